// What the codecs that go through libzfp (1.0) share: the library, which is loaded when a context is made (from the
// path in COLLPRESS_ZFP_LIBRARY, else libzfp.so.1 or libzfp.so wherever the loader finds them; without it:
// UNSUPPORTED), the shape of messages, and streams.
//
//   stream = StreamHeader (flag 1: raw), then zfp's own stream of 64-bit words, or the values as they are
//
// A message that is a whole number of the array's planes, or rows, is coded as planes of rows, or as rows: zfp's blocks
// then have 4 x 4 x 4, or 4 x 4, values that are neighbours in the array, and not 4 that follow each other. A piece
// that begins inside of a row has a seam where rows wrap, which costs bytes and breaks nothing.
//
// Messages outside of the region where zfp keeps what it promises are verified by decoding them, and stored raw where
// they come back with larger errors; so are messages with a NaN or an infinity, whole.
#ifndef COLLPRESS_CODECS_ZFP_HPP
#define COLLPRESS_CODECS_ZFP_HPP

#include "outside.hpp"
#include "stream.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <vector>

namespace collpress::codecs::zfp {

constexpr std::uint8_t kRawFlag = 1;

// The functions of libzfp that are used here, as its documentation describes them; all its types stay opaque.
struct Library {
    OutsideLibrary file;
    void *(*stream_open)(void *buffer, std::size_t bytes) = nullptr;
    void (*stream_close)(void *bits) = nullptr;
    void *(*zfp_stream_open)(void *bits) = nullptr;
    void (*zfp_stream_close)(void *stream) = nullptr;
    void (*zfp_stream_set_bit_stream)(void *stream, void *bits) = nullptr;
    void (*zfp_stream_rewind)(void *stream) = nullptr;
    double (*zfp_stream_set_accuracy)(void *stream, double tolerance) = nullptr;
    double (*zfp_stream_set_rate)(void *stream, double rate, int type, unsigned dimensions, int align) = nullptr;
    std::size_t (*zfp_stream_maximum_size)(const void *stream, const void *field) = nullptr;
    void *(*zfp_field_1d)(void *pointer, int type, std::size_t nx) = nullptr;
    void *(*zfp_field_2d)(void *pointer, int type, std::size_t nx, std::size_t ny) = nullptr;
    void *(*zfp_field_3d)(void *pointer, int type, std::size_t nx, std::size_t ny, std::size_t nz) = nullptr;
    void (*zfp_field_free)(void *field) = nullptr;
    std::size_t (*zfp_compress)(void *stream, const void *field) = nullptr;
    std::size_t (*zfp_decompress)(void *stream, void *field) = nullptr;

    bool open() {
        return file.load("COLLPRESS_ZFP_LIBRARY", {"libzfp.so.1", "libzfp.so"}) &&
               file.find(stream_open, "stream_open") && file.find(stream_close, "stream_close") &&
               file.find(zfp_stream_open, "zfp_stream_open") && file.find(zfp_stream_close, "zfp_stream_close") &&
               file.find(zfp_stream_set_bit_stream, "zfp_stream_set_bit_stream") &&
               file.find(zfp_stream_rewind, "zfp_stream_rewind") &&
               file.find(zfp_stream_set_accuracy, "zfp_stream_set_accuracy") &&
               file.find(zfp_stream_set_rate, "zfp_stream_set_rate") &&
               file.find(zfp_stream_maximum_size, "zfp_stream_maximum_size") &&
               file.find(zfp_field_1d, "zfp_field_1d") && file.find(zfp_field_2d, "zfp_field_2d") &&
               file.find(zfp_field_3d, "zfp_field_3d") && file.find(zfp_field_free, "zfp_field_free") &&
               file.find(zfp_compress, "zfp_compress") && file.find(zfp_decompress, "zfp_decompress");
    }
};

// How a message lies: x fastest; ny and nz are 1 where it has fewer dimensions.
struct Shape {
    std::size_t nx, ny, nz;
    int dimensions;
};

// The largest and the smallest magnitude above 0 among the values; whether all are finite.
struct Magnitudes {
    double largest = 0, smallest = std::numeric_limits<double>::infinity();
    bool finite = true;
};

template <class T>
Magnitudes magnitudes(const unsigned char *in, std::size_t count) {
    T largest = 0, smallest = std::numeric_limits<T>::infinity(), poison = 0;
    for (std::size_t i = 0; i < count; ++i) {
        T x;
        std::memcpy(&x, in + i * sizeof x, sizeof x);
        const T magnitude = std::abs(x);
        largest = std::max(largest, magnitude);
        smallest = std::min(smallest, magnitude > 0 ? magnitude : smallest);
        poison += x * 0; // NaN for NaN and infinities
    }
    return {largest, smallest, poison == 0};
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

// What a message needs: to be stored as it is, to be verified after it was coded, or neither.
enum class Trust { none, verify, full };

// A zfp codec. A Mode, made of the config:
//   static constexpr std::uint32_t magic
//   bool valid() const                                              false: the config is none for it
//   double word() const                                             what the stream's header says of it
//   void set(const Library &, void *stream, std::uint32_t dtype, int dimensions) const
//   Trust trust(const Magnitudes &, std::uint32_t dtype, int dimensions) const        of finite values
//   double bound(double max_abs, std::uint32_t dtype, int dimensions) const           that a message is verified
//   against
template <class Mode>
class Codec {
    using Words = std::vector<std::uint64_t>; // zfp reads and writes whole words

    struct Context {
        std::uint32_t dtype;
        std::uint64_t row, plane;
        Mode mode;
        Library zfp;
        void *stream = nullptr;
        Words words;                     // zfp's stream, aligned
        std::vector<unsigned char> back; // decoded values, to verify; input that is not aligned

        explicit Context(const collpress_codec_config &config)
            : dtype(config.dtype), row(config.row), plane(config.plane), mode(config) {}
        Context(const Context &) = delete;
        Context &operator=(const Context &) = delete;
        ~Context() {
            if (stream != nullptr) zfp.zfp_stream_close(stream);
        }

        bool single() const { return dtype == COLLPRESS_FLOAT32; }

        Shape shape(std::size_t count) const {
            if (row > 1 && plane > row && plane % row == 0 && count / 2 >= plane && count % plane == 0)
                return {row, plane / row, count / plane, 3};
            if (row > 1 && count / 2 >= row && count % row == 0) return {row, count / row, 1, 2};
            return {count, 1, 1, 1};
        }

        // 3 and 4 are zfp_type_float and zfp_type_double.
        int type() const { return single() ? 3 : 4; }

        void *new_field(void *values, const Shape &shape) const {
            if (shape.dimensions == 3) return zfp.zfp_field_3d(values, type(), shape.nx, shape.ny, shape.nz);
            if (shape.dimensions == 2) return zfp.zfp_field_2d(values, type(), shape.nx, shape.ny);
            return zfp.zfp_field_1d(values, type(), shape.nx);
        }

        // Runs zfp_compress or zfp_decompress over `words`; returns what it returns: bytes, 0 for failure.
        template <class Values>
        std::size_t code(std::size_t (*function)(void *, Values *), void *values, const Shape &shape) {
            void *bits = zfp.stream_open(words.data(), words.size() * sizeof(std::uint64_t));
            void *field = new_field(values, shape);
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

        // Sets zfp up for a shape, with words for any stream of it, and more for what a decoder of a damaged one reads
        // ahead.
        void reserve(const Shape &shape) {
            mode.set(zfp, stream, dtype, shape.dimensions);
            void *field = new_field(nullptr, shape);
            if (field == nullptr) throw std::bad_alloc();
            const std::size_t bytes = zfp.zfp_stream_maximum_size(stream, field);
            zfp.zfp_field_free(field);
            const std::size_t needed = bytes / sizeof(std::uint64_t) + 8;
            if (words.size() < needed) words.resize(needed);
        }
    };

    // zfp's stream of the values in `words`; its bytes, 0 when they have to be stored raw.
    static std::size_t encode(Context &context, const unsigned char *in, std::size_t count) {
        const bool single = context.single();
        const Magnitudes found = single ? magnitudes<float>(in, count) : magnitudes<double>(in, count);
        const double most = single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
        const Shape shape = context.shape(count);
        if (!found.finite || found.largest > most / 4) return 0;
        const Trust trusted = context.mode.trust(found, context.dtype, shape.dimensions);
        if (trusted == Trust::none) return 0;
        context.reserve(shape);
        const std::size_t raw = count * size_of(context.dtype);
        const bool aligned = reinterpret_cast<std::uintptr_t>(in) % size_of(context.dtype) == 0;
        if (!aligned) context.back.assign(in, in + raw);
        // zfp only reads the values, though its field wants a plain pointer.
        void *values = aligned ? const_cast<unsigned char *>(in) : context.back.data();
        const std::size_t bytes = context.code(context.zfp.zfp_compress, values, shape);
        if (bytes == 0 || bytes >= raw) return 0;
        if (trusted == Trust::full) return bytes;
        context.back.resize(raw);
        if (context.code(context.zfp.zfp_decompress, context.back.data(), shape) == 0) return 0;
        const double bound = context.mode.bound(found.largest, context.dtype, shape.dimensions);
        const bool good = single ? within<float>(in, context.back.data(), count, bound)
                                 : within<double>(in, context.back.data(), count, bound);
        return good ? bytes : 0;
    }

    static void *create(const collpress_codec_config *config, collpress_codec_result *result) try {
        *result = COLLPRESS_CODEC_UNSUPPORTED;
        if (config->dtype != COLLPRESS_FLOAT32 && config->dtype != COLLPRESS_FLOAT64) return nullptr;
        auto context = std::make_unique<Context>(*config);
        if (!context->mode.valid() || !context->zfp.open()) return nullptr;
        context->stream = context->zfp.zfp_stream_open(nullptr);
        *result = context->stream == nullptr ? COLLPRESS_CODEC_FAILED : COLLPRESS_CODEC_OK;
        return context->stream == nullptr ? nullptr : context.release();
    } catch (const std::exception &) {
        *result = COLLPRESS_CODEC_FAILED; // no memory
        return nullptr;
    }

    static void destroy(void *context) { delete static_cast<Context *>(context); }

    // Streams longer than the values are never kept.
    static std::size_t max_bytes(const void *context, std::size_t count) {
        return sizeof(StreamHeader) + count * size_of(static_cast<const Context *>(context)->dtype);
    }

    static collpress_codec_result compress(void *opaque, const void *in, std::size_t count, void *out,
                                           std::size_t capacity, std::size_t *out_bytes) try {
        auto &context = *static_cast<Context *>(opaque);
        const auto *from = static_cast<const unsigned char *>(in);
        const std::size_t bytes = count > 0 ? encode(context, from, count) : 0;
        const bool raw = bytes == 0;
        const std::size_t payload = raw ? count * size_of(context.dtype) : bytes;
        if (capacity < sizeof(StreamHeader) || capacity - sizeof(StreamHeader) < payload)
            return COLLPRESS_CODEC_SMALL_BUFFER;
        write_header(out, Mode::magic, context.dtype, count, context.mode.word(), raw ? kRawFlag : 0);
        if (payload > 0)
            std::memcpy(static_cast<unsigned char *>(out) + sizeof(StreamHeader), raw ? in : context.words.data(),
                        payload);
        *out_bytes = sizeof(StreamHeader) + payload;
        return COLLPRESS_CODEC_OK;
    } catch (const std::exception &) {
        return COLLPRESS_CODEC_FAILED; // no memory
    }

    static collpress_codec_result decompress(void *opaque, const void *in, std::size_t bytes, void *out,
                                             std::size_t count) try {
        auto &context = *static_cast<Context *>(opaque);
        std::uint8_t flags = 0;
        if (!read_header(in, bytes, Mode::magic, context.dtype, count, context.mode.word(), &flags) || flags > kRawFlag)
            return COLLPRESS_CODEC_BAD_STREAM;
        const auto *from = static_cast<const unsigned char *>(in) + sizeof(StreamHeader);
        const std::size_t payload = bytes - sizeof(StreamHeader), raw = count * size_of(context.dtype);
        if (flags == kRawFlag) {
            if (payload != raw) return COLLPRESS_CODEC_BAD_STREAM;
            if (raw > 0) std::memcpy(out, from, raw);
            return COLLPRESS_CODEC_OK;
        }
        if (payload == 0 || payload >= raw || payload % sizeof(std::uint64_t) != 0) return COLLPRESS_CODEC_BAD_STREAM;
        // zfp trusts its input: it gets a copy with room for the longest stream there is, so that a damaged one ends in
        // zeros.
        const Shape shape = context.shape(count);
        context.reserve(shape);
        if (payload > context.words.size() * sizeof(std::uint64_t)) return COLLPRESS_CODEC_BAD_STREAM;
        std::memcpy(context.words.data(), from, payload);
        std::memset(reinterpret_cast<unsigned char *>(context.words.data()) + payload, 0,
                    context.words.size() * sizeof(std::uint64_t) - payload);
        const bool aligned = reinterpret_cast<std::uintptr_t>(out) % size_of(context.dtype) == 0;
        if (!aligned) context.back.resize(raw);
        // A whole stream is read to its last word, no further.
        if (context.code(context.zfp.zfp_decompress, aligned ? out : context.back.data(), shape) != payload)
            return COLLPRESS_CODEC_BAD_STREAM;
        if (!aligned) std::memcpy(out, context.back.data(), raw);
        return COLLPRESS_CODEC_OK;
    } catch (const std::exception &) {
        return COLLPRESS_CODEC_FAILED; // no memory
    }

    // Of the shapes that messages may have, the one with the largest.
    static double worst_error(const void *opaque, double max_abs) {
        const auto &context = *static_cast<const Context *>(opaque);
        double worst = 0;
        for (int dimensions = 1; dimensions <= (context.row == 0 ? 1 : context.plane == 0 ? 2 : 3); ++dimensions)
            worst = std::max(worst, context.mode.bound(max_abs, context.dtype, dimensions));
        return worst;
    }

  public:
    static constexpr collpress_codec codec(bool takes_bound, const collpress_codec_extras *extras) {
        return {COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT32) | COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT64),
                takes_bound ? 1u : 0u,
                0,
                create,
                destroy,
                max_bytes,
                compress,
                decompress,
                worst_error,
                extras};
    }
};

} // namespace collpress::codecs::zfp
#endif
