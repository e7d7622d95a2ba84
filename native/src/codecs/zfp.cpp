// zfp: Lindstrom's transform coder in fixed-accuracy mode, one-dimensional, through libzfp (1.0), which is loaded when
// a context is made: from the path in COLLPRESS_ZFP_LIBRARY, else libzfp.so.1 or libzfp.so wherever the loader finds
// them. Without it: UNSUPPORTED.
//
//   stream = StreamHeader (flag 1: raw), then zfp's own stream of 64-bit words, or the values as they are
//
// zfp keeps its accuracy only for finite values that are not too large beside the tolerance, and not with tolerances
// near the smallest numbers. Messages outside the safe region are verified by decoding them, and stored raw where the
// bound would not hold; so are messages with a NaN or an infinity, whole.
#include "stream.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <limits>
#include <new>
#include <vector>

namespace {

using namespace collpress::codecs;

constexpr std::uint32_t kMagic = 0x31465a43; // "CZF1"
constexpr std::uint8_t kRawFlag = 1;

// The functions of libzfp that are used here, as its documentation describes them; all its types stay opaque.
struct Library {
    void *handle = nullptr;
    void *(*stream_open)(void *buffer, std::size_t bytes) = nullptr;
    void (*stream_close)(void *bits) = nullptr;
    void *(*zfp_stream_open)(void *bits) = nullptr;
    void (*zfp_stream_close)(void *stream) = nullptr;
    void (*zfp_stream_set_bit_stream)(void *stream, void *bits) = nullptr;
    void (*zfp_stream_rewind)(void *stream) = nullptr;
    double (*zfp_stream_set_accuracy)(void *stream, double tolerance) = nullptr;
    std::size_t (*zfp_stream_maximum_size)(const void *stream, const void *field) = nullptr;
    void *(*zfp_field_1d)(void *pointer, int type, std::size_t n) = nullptr;
    void (*zfp_field_free)(void *field) = nullptr;
    std::size_t (*zfp_compress)(void *stream, const void *field) = nullptr;
    std::size_t (*zfp_decompress)(void *stream, void *field) = nullptr;

    // Not unloaded with the last context: the OpenMP runtime that libzfp brings along does not survive that.
    static constexpr int kMode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;

    bool open() {
        const char *path = std::getenv("COLLPRESS_ZFP_LIBRARY");
        if (path != nullptr && *path != '\0') handle = dlopen(path, kMode);
        for (const char *name : {"libzfp.so.1", "libzfp.so"})
            if (handle == nullptr) handle = dlopen(name, kMode);
        return handle != nullptr && find(stream_open, "stream_open") && find(stream_close, "stream_close") &&
               find(zfp_stream_open, "zfp_stream_open") && find(zfp_stream_close, "zfp_stream_close") &&
               find(zfp_stream_set_bit_stream, "zfp_stream_set_bit_stream") &&
               find(zfp_stream_rewind, "zfp_stream_rewind") &&
               find(zfp_stream_set_accuracy, "zfp_stream_set_accuracy") &&
               find(zfp_stream_maximum_size, "zfp_stream_maximum_size") && find(zfp_field_1d, "zfp_field_1d") &&
               find(zfp_field_free, "zfp_field_free") && find(zfp_compress, "zfp_compress") &&
               find(zfp_decompress, "zfp_decompress");
    }

    template <class F>
    bool find(F &function, const char *name) {
        function = reinterpret_cast<F>(dlsym(handle, name));
        return function != nullptr;
    }

    ~Library() {
        if (handle != nullptr) dlclose(handle);
    }
};

using Words = std::vector<std::uint64_t>; // zfp reads and writes whole words

struct Context {
    std::uint32_t dtype = 0;
    double bound = 0;
    Library zfp;
    void *stream = nullptr;
    Words words;                     // zfp's stream, aligned
    std::vector<unsigned char> back; // decoded values, to verify; input that is not aligned

    ~Context() {
        if (stream != nullptr) zfp.zfp_stream_close(stream);
    }

    std::size_t element_bytes() const { return size_of(dtype); }

    // Upper limit of zfp's stream, in bytes, as it states it.
    std::size_t maximum(std::size_t count) const {
        void *field = new_field(nullptr, count);
        if (field == nullptr) throw std::bad_alloc();
        const std::size_t bytes = zfp.zfp_stream_maximum_size(stream, field);
        zfp.zfp_field_free(field);
        return bytes;
    }

    // 3 and 4 are zfp_type_float and zfp_type_double.
    void *new_field(void *values, std::size_t count) const {
        return zfp.zfp_field_1d(values, dtype == COLLPRESS_FLOAT32 ? 3 : 4, count);
    }

    // Runs zfp_compress or zfp_decompress over `words`; returns what it returns: bytes, 0 for failure.
    template <class Values>
    std::size_t code(std::size_t (*function)(void *, Values *), void *values, std::size_t count) {
        void *bits = zfp.stream_open(words.data(), words.size() * sizeof(std::uint64_t));
        void *field = new_field(values, count);
        std::size_t bytes = 0;
        if (bits != nullptr && field != nullptr) {
            zfp.zfp_stream_set_bit_stream(stream, bits);
            zfp.zfp_stream_rewind(stream);
            bytes = function(stream, field);
        }
        if (field != nullptr) zfp.zfp_field_free(field);
        if (bits != nullptr) zfp.stream_close(bits);
        return bytes;
    }

    // Words for any stream of `count` values, one more for what a decoder of a damaged stream reads ahead.
    void reserve(std::size_t count) {
        const std::size_t needed = maximum(count) / sizeof(std::uint64_t) + 8;
        if (words.size() < needed) words.resize(needed);
    }
};

enum class Trust { none, verify, full };

// How far zfp's accuracy holds for these values. zfp aligns blocks of four to their largest exponent and keeps 30 (62)
// bits of them; with 2^6 to spare for its transform and for the rounding of the result, the rest is a matter of its
// documented guarantee.
template <class T>
Trust trust(const unsigned char *in, std::size_t count, double bound) {
    T largest = 0, poison = 0;
    for (std::size_t i = 0; i < count; ++i) {
        T x;
        std::memcpy(&x, in + i * sizeof x, sizeof x);
        largest = std::max(largest, std::abs(x));
        poison += x * 0; // NaN for NaN and infinities
    }
    if (poison != 0 || largest > std::numeric_limits<T>::max() / 4) return Trust::none;
    const bool single = sizeof(T) == 4;
    const double smallest = single ? 0x1p-80 : 0x1p-900, room = single ? 0x1p18 : 0x1p46;
    return bound >= smallest && static_cast<double>(largest) <= bound * room ? Trust::full : Trust::verify;
}

template <class T>
bool within(const unsigned char *a, const unsigned char *b, std::size_t count, double bound) {
    for (std::size_t i = 0; i < count; ++i) {
        T x, y;
        std::memcpy(&x, a + i * sizeof x, sizeof x);
        std::memcpy(&y, b + i * sizeof y, sizeof y);
        // A float difference is exact in double or rounds far from a float's bound; a double one must stay below by its
        // own rounding.
        if (!(std::abs(static_cast<double>(x) - static_cast<double>(y)) <= std::nextafter(bound, 0.0))) return false;
    }
    return true;
}

// zfp's stream of the values in `words`; its bytes, 0 when they have to be stored raw.
std::size_t encode(Context &context, const unsigned char *in, std::size_t count) {
    const bool single = context.dtype == COLLPRESS_FLOAT32;
    const std::size_t raw = count * context.element_bytes();
    const Trust trusted = single ? trust<float>(in, count, context.bound) : trust<double>(in, count, context.bound);
    if (trusted == Trust::none) return 0;
    context.reserve(count);
    const bool aligned = reinterpret_cast<std::uintptr_t>(in) % context.element_bytes() == 0;
    if (!aligned) context.back.assign(in, in + raw);
    // zfp only reads the values, though its field wants a plain pointer.
    void *values = aligned ? const_cast<unsigned char *>(in) : context.back.data();
    const std::size_t bytes = context.code(context.zfp.zfp_compress, values, count);
    if (bytes == 0 || bytes >= raw) return 0;
    if (trusted == Trust::full) return bytes;
    context.back.resize(raw);
    if (context.code(context.zfp.zfp_decompress, context.back.data(), count) == 0) return 0;
    const bool good = single ? within<float>(in, context.back.data(), count, context.bound)
                             : within<double>(in, context.back.data(), count, context.bound);
    return good ? bytes : 0;
}

void *create(const collpress_codec_config *config, collpress_codec_result *result) {
    *result = COLLPRESS_CODEC_UNSUPPORTED;
    const bool known = config->dtype == COLLPRESS_FLOAT32 || config->dtype == COLLPRESS_FLOAT64;
    if (!known || !(config->abs_bound > 0) || !std::isfinite(config->abs_bound)) return nullptr;
    auto *context = new (std::nothrow) Context;
    if (context == nullptr) {
        *result = COLLPRESS_CODEC_FAILED;
        return nullptr;
    }
    context->dtype = config->dtype;
    context->bound = config->abs_bound;
    if (context->zfp.open()) context->stream = context->zfp.zfp_stream_open(nullptr);
    if (context->stream == nullptr) {
        delete context;
        return nullptr;
    }
    context->zfp.zfp_stream_set_accuracy(context->stream, context->bound);
    *result = COLLPRESS_CODEC_OK;
    return context;
}

void destroy(void *context) { delete static_cast<Context *>(context); }

// Streams longer than the values are never kept.
std::size_t max_bytes(const void *context, std::size_t count) {
    return sizeof(StreamHeader) + count * static_cast<const Context *>(context)->element_bytes();
}

collpress_codec_result compress(void *opaque, const void *in, std::size_t count, void *out, std::size_t capacity,
                                std::size_t *out_bytes) try {
    auto &context = *static_cast<Context *>(opaque);
    const auto *from = static_cast<const unsigned char *>(in);
    const std::size_t bytes = count > 0 ? encode(context, from, count) : 0;
    const bool raw = bytes == 0;
    const std::size_t payload = raw ? count * context.element_bytes() : bytes;
    if (capacity < sizeof(StreamHeader) || capacity - sizeof(StreamHeader) < payload)
        return COLLPRESS_CODEC_SMALL_BUFFER;
    write_header(out, kMagic, context.dtype, count, context.bound, raw ? kRawFlag : 0);
    if (payload > 0)
        std::memcpy(static_cast<unsigned char *>(out) + sizeof(StreamHeader), raw ? in : context.words.data(), payload);
    *out_bytes = sizeof(StreamHeader) + payload;
    return COLLPRESS_CODEC_OK;
} catch (const std::exception &) {
    return COLLPRESS_CODEC_FAILED; // no memory
}

collpress_codec_result decompress(void *opaque, const void *in, std::size_t bytes, void *out, std::size_t count) try {
    auto &context = *static_cast<Context *>(opaque);
    std::uint8_t flags = 0;
    if (!read_header(in, bytes, kMagic, context.dtype, count, context.bound, &flags) || flags > kRawFlag)
        return COLLPRESS_CODEC_BAD_STREAM;
    const auto *from = static_cast<const unsigned char *>(in) + sizeof(StreamHeader);
    const std::size_t payload = bytes - sizeof(StreamHeader), raw = count * context.element_bytes();
    if (flags == kRawFlag) {
        if (payload != raw) return COLLPRESS_CODEC_BAD_STREAM;
        if (raw > 0) std::memcpy(out, from, raw);
        return COLLPRESS_CODEC_OK;
    }
    if (payload == 0 || payload >= raw || payload % sizeof(std::uint64_t) != 0) return COLLPRESS_CODEC_BAD_STREAM;
    // zfp trusts its input: it gets a copy with room for the longest stream there is, so that a damaged one ends in
    // zeros.
    context.reserve(count);
    std::memcpy(context.words.data(), from, payload);
    std::memset(reinterpret_cast<unsigned char *>(context.words.data()) + payload, 0,
                context.words.size() * sizeof(std::uint64_t) - payload);
    const bool aligned = reinterpret_cast<std::uintptr_t>(out) % context.element_bytes() == 0;
    if (!aligned) context.back.resize(raw);
    // A whole stream is read to its last word, no further.
    if (context.code(context.zfp.zfp_decompress, aligned ? out : context.back.data(), count) != payload)
        return COLLPRESS_CODEC_BAD_STREAM;
    if (!aligned) std::memcpy(out, context.back.data(), raw);
    return COLLPRESS_CODEC_OK;
} catch (const std::exception &) {
    return COLLPRESS_CODEC_FAILED; // no memory
}

double worst_error(const void *context, double) { return static_cast<const Context *>(context)->bound; }

constexpr collpress_codec codec{
    COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT32) | COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT64),
    1,
    0,
    create,
    destroy,
    max_bytes,
    compress,
    decompress,
    worst_error,
    nullptr,
};
constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC, "zfp, fixed accuracy, one-dimensional",
                                    &codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
