// int8: symmetric quantisation in groups of 128, as sums of gradients use it. Each group's scale is its largest
// magnitude / 127; a value is scale times an integer of -127 .. 127, rounded to nearest, ties to even. There is no
// bound but the one the data give: |x - x'| <= max|x| / 254 and a little rounding.
//
//   stream = StreamHeader, group ...        group = scale (of the values' type), 128 int8; the last one shorter
//
// Nothing is lost silently: a group that cannot be scaled (NaN, infinities, magnitudes near the ends of the type's
// range) has NaN for a scale and its values follow as they are.
#include "cpu.hpp"
#include "stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

namespace {

using namespace collpress::codecs;

constexpr std::uint32_t kMagic = 0x31384943; // "CI81"
constexpr std::size_t kGroup = 128;

struct Context {
    std::uint32_t dtype;
    bool avx2;
};

// Adding this rounds to an integer, ties to even, and leaves it in the lowest bits.
template <class T>
constexpr T kShift = sizeof(T) == 4 ? T(12582912.0) : T(6755399441055744.0);
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

// The two loops over a whole group; `always_inline` so that they are compiled once for each instruction set below.
template <class T>
[[gnu::always_inline]] inline bool quantise(const T *x, std::int8_t *q, T &scale) {
    // As integers, magnitudes have the same order, and infinities and NaN are the largest; unlike floats they
    // vectorise.
    constexpr Bits<T> magnitude = std::numeric_limits<Bits<T>>::max();
    Bits<T> bits = 0;
    for (std::size_t i = 0; i < kGroup; ++i) bits = std::max(bits, std::bit_cast<Bits<T>>(x[i]) & magnitude);
    const T largest = std::bit_cast<T>(bits);
    scale = largest / 127;
    const bool scalable = scale >= std::numeric_limits<T>::min() && scale * 127 <= std::numeric_limits<T>::max();
    if (bits != 0 && !scalable) return false;
    const T inverse = bits != 0 ? 1 / scale : 0;
    for (std::size_t i = 0; i < kGroup; ++i) // |x·inverse| is 127 and a few ulps at most: it rounds to 127
        q[i] = static_cast<std::int8_t>(std::bit_cast<Bits<T>>(x[i] * inverse + kShift<T>));
    return true;
}

template <class T>
[[gnu::always_inline]] inline void restore(const std::int8_t *q, T scale, T *x) {
    for (std::size_t i = 0; i < kGroup; ++i) x[i] = static_cast<T>(q[i]) * scale;
}

// How a group's loops are compiled.
struct Portable {
    template <class T>
    static bool encode(const T *x, std::int8_t *q, T &scale) {
        return quantise(x, q, scale);
    }
    template <class T>
    static void decode(const std::int8_t *q, T scale, T *x) {
        restore(q, scale, x);
    }
};
#if COLLPRESS_X86_KERNELS
struct Avx2 {
    template <class T>
    [[gnu::target("avx2")]] static bool encode(const T *x, std::int8_t *q, T &scale) {
        return quantise(x, q, scale);
    }
    template <class T>
    [[gnu::target("avx2")]] static void decode(const std::int8_t *q, T scale, T *x) {
        restore(q, scale, x);
    }
};
#endif

template <class T, class Kernel>
collpress_codec_result encode(const Context &context, const unsigned char *in, std::size_t count, unsigned char *out,
                              std::size_t capacity, std::size_t *out_bytes) {
    if (capacity < sizeof(StreamHeader)) return COLLPRESS_CODEC_SMALL_BUFFER;
    std::size_t used = sizeof(StreamHeader);
    for (std::size_t at = 0; at < count; at += kGroup) {
        const std::size_t values = std::min(kGroup, count - at), raw = values * sizeof(T);
        T x[kGroup] = {}; // input of any alignment, a last group padded with zeros
        std::int8_t q[kGroup];
        T scale = 0;
        std::memcpy(x, in + at * sizeof(T), raw);
        const bool scaled = Kernel::encode(x, q, scale);
        if (!scaled) scale = std::numeric_limits<T>::quiet_NaN();
        const std::size_t payload = scaled ? values : raw;
        if (capacity - used < sizeof scale + payload) return COLLPRESS_CODEC_SMALL_BUFFER;
        std::memcpy(out + used, &scale, sizeof scale);
        std::memcpy(out + used + sizeof scale, scaled ? static_cast<const void *>(q) : x, payload);
        used += sizeof scale + payload;
    }
    write_header(out, kMagic, context.dtype, count, 0.0, 0);
    *out_bytes = used;
    return COLLPRESS_CODEC_OK;
}

template <class T, class Kernel>
collpress_codec_result decode(const Context &context, const unsigned char *in, std::size_t bytes, unsigned char *out,
                              std::size_t count) {
    std::uint8_t flags = 0;
    if (!read_header(in, bytes, kMagic, context.dtype, count, 0.0, &flags) || flags != 0)
        return COLLPRESS_CODEC_BAD_STREAM;
    std::size_t used = sizeof(StreamHeader);
    for (std::size_t at = 0; at < count; at += kGroup) {
        const std::size_t values = std::min(kGroup, count - at), raw = values * sizeof(T);
        T scale;
        if (bytes - used < sizeof scale) return COLLPRESS_CODEC_BAD_STREAM;
        std::memcpy(&scale, in + used, sizeof scale);
        used += sizeof scale;
        const std::size_t payload = std::isnan(scale) ? raw : values;
        if (bytes - used < payload) return COLLPRESS_CODEC_BAD_STREAM;
        if (std::isnan(scale)) {
            std::memcpy(out + at * sizeof(T), in + used, raw);
        } else {
            std::int8_t q[kGroup] = {};
            T x[kGroup];
            std::memcpy(q, in + used, payload);
            Kernel::decode(q, scale, x);
            std::memcpy(out + at * sizeof(T), x, raw);
        }
        used += payload;
    }
    return used == bytes ? COLLPRESS_CODEC_OK : COLLPRESS_CODEC_BAD_STREAM;
}

void *create(const collpress_codec_config *config, collpress_codec_result *result) {
    if (config->dtype != COLLPRESS_FLOAT32 && config->dtype != COLLPRESS_FLOAT64) {
        *result = COLLPRESS_CODEC_UNSUPPORTED;
        return nullptr;
    }
    auto *context = new (std::nothrow) Context{config->dtype, has_avx2()};
    *result = context != nullptr ? COLLPRESS_CODEC_OK : COLLPRESS_CODEC_FAILED;
    return context;
}

void destroy(void *context) { delete static_cast<Context *>(context); }

std::size_t max_bytes(const void *context, std::size_t count) {
    const std::size_t groups = count / kGroup + (count % kGroup != 0 ? 1 : 0);
    return sizeof(StreamHeader) + (groups + count) * size_of(static_cast<const Context *>(context)->dtype);
}

template <class Kernel>
collpress_codec_result compress_with(const Context &context, const void *in, std::size_t count, void *out,
                                     std::size_t capacity, std::size_t *out_bytes) {
    const auto *from = static_cast<const unsigned char *>(in);
    auto *to = static_cast<unsigned char *>(out);
    return context.dtype == COLLPRESS_FLOAT32 ? encode<float, Kernel>(context, from, count, to, capacity, out_bytes)
                                              : encode<double, Kernel>(context, from, count, to, capacity, out_bytes);
}

template <class Kernel>
collpress_codec_result decompress_with(const Context &context, const void *in, std::size_t bytes, void *out,
                                       std::size_t count) {
    const auto *from = static_cast<const unsigned char *>(in);
    auto *to = static_cast<unsigned char *>(out);
    return context.dtype == COLLPRESS_FLOAT32 ? decode<float, Kernel>(context, from, bytes, to, count)
                                              : decode<double, Kernel>(context, from, bytes, to, count);
}

collpress_codec_result compress(void *opaque, const void *in, std::size_t count, void *out, std::size_t capacity,
                                std::size_t *out_bytes) {
    const auto &context = *static_cast<const Context *>(opaque);
#if COLLPRESS_X86_KERNELS
    if (context.avx2) return compress_with<Avx2>(context, in, count, out, capacity, out_bytes);
#endif
    return compress_with<Portable>(context, in, count, out, capacity, out_bytes);
}

collpress_codec_result decompress(void *opaque, const void *in, std::size_t bytes, void *out, std::size_t count) {
    const auto &context = *static_cast<const Context *>(opaque);
#if COLLPRESS_X86_KERNELS
    if (context.avx2) return decompress_with<Avx2>(context, in, bytes, out, count);
#endif
    return decompress_with<Portable>(context, in, bytes, out, count);
}

// Half a step, and the roundings of scale, quotient and product: less than two ulps of the largest value each.
double worst_error(const void *opaque, double max_abs) {
    const bool single = static_cast<const Context *>(opaque)->dtype == COLLPRESS_FLOAT32;
    const double ulp = single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
    return max_abs * (1.0 / 254 + 4 * ulp);
}

constexpr collpress_codec codec{
    COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT32) | COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT64),
    0,
    0,
    create,
    destroy,
    max_bytes,
    compress,
    decompress,
    worst_error,
    nullptr,
};
constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC, "8-bit integers, one scale for 128 values",
                                    &codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
