// bf16: each value rounded to the nearest bfloat16 (8 exponent bits, 8 significant bits), ties to even: |x - x'| <=
// 2^-8 |x|.
//
//   stream = StreamHeader, one 16-bit word a value
//
// NaN stays NaN (sign and upper payload bits kept, quiet), infinities stay. A finite value beyond the largest bfloat16
// (about 3.39e38) becomes infinite, as in every cast; worst_error says so by being infinite.
#include "cpu.hpp"
#include "stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

namespace {

using namespace collpress::codecs;

constexpr std::uint32_t kMagic = 0x36314243; // "CB16"
constexpr std::size_t kBatch = 1024;         // values handled at once, from and to any alignment

struct Context {
    std::uint32_t dtype;
    bool avx2;
};

// To float without deciding the rounding: a double between two floats becomes the odd one, which the next rounding
// cannot mistake for a tie.
[[gnu::always_inline]] inline std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
[[gnu::always_inline]] inline std::uint32_t bits_of(double x) {
    const float near = static_cast<float>(x);
    const double back = static_cast<double>(near);
    std::uint32_t bits = std::bit_cast<std::uint32_t>(near);
    bits -= std::abs(back) > std::abs(x) ? 1 : 0;
    bits |= back < x || back > x ? 1 : 0; // neither for NaN
    return bits;
}

[[gnu::always_inline]] inline std::uint16_t rounded(std::uint32_t bits) {
    const std::uint32_t nearest = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const std::uint32_t quiet = (bits >> 16) | 0x40u;
    return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : nearest);
}

template <class T>
[[gnu::always_inline]] inline void narrow(const T *x, std::uint16_t *words) {
    for (std::size_t i = 0; i < kBatch; ++i) words[i] = rounded(bits_of(x[i]));
}

template <class T>
[[gnu::always_inline]] inline void widen(const std::uint16_t *words, T *x) {
    for (std::size_t i = 0; i < kBatch; ++i)
        x[i] = static_cast<T>(std::bit_cast<float>(static_cast<std::uint32_t>(words[i]) << 16));
}

// How a batch's loops are compiled.
struct Portable {
    template <class T>
    static void encode(const T *x, std::uint16_t *words) {
        narrow(x, words);
    }
    template <class T>
    static void decode(const std::uint16_t *words, T *x) {
        widen(words, x);
    }
};
#if COLLPRESS_X86_KERNELS
struct Avx2 {
    template <class T>
    [[gnu::target("avx2")]] static void encode(const T *x, std::uint16_t *words) {
        narrow(x, words);
    }
    template <class T>
    [[gnu::target("avx2")]] static void decode(const std::uint16_t *words, T *x) {
        widen(words, x);
    }
};
#endif

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

std::size_t max_bytes(const void *, std::size_t count) { return sizeof(StreamHeader) + 2 * count; }

template <class T, class Kernel>
void encode(const unsigned char *in, std::size_t count, unsigned char *out) {
    alignas(32) T x[kBatch] = {};
    alignas(32) std::uint16_t words[kBatch];
    for (std::size_t at = 0; at < count; at += kBatch) {
        const std::size_t values = std::min(kBatch, count - at);
        std::memcpy(x, in + at * sizeof(T), values * sizeof(T));
        Kernel::encode(x, words);
        std::memcpy(out + 2 * at, words, 2 * values);
    }
}

template <class T, class Kernel>
void decode(const unsigned char *in, std::size_t count, unsigned char *out) {
    alignas(32) T x[kBatch];
    alignas(32) std::uint16_t words[kBatch] = {};
    for (std::size_t at = 0; at < count; at += kBatch) {
        const std::size_t values = std::min(kBatch, count - at);
        std::memcpy(words, in + 2 * at, 2 * values);
        Kernel::decode(words, x);
        std::memcpy(out + at * sizeof(T), x, values * sizeof(T));
    }
}

template <class T>
void encode_best(const Context &context, const unsigned char *in, std::size_t count, unsigned char *out) {
#if COLLPRESS_X86_KERNELS
    if (context.avx2) return encode<T, Avx2>(in, count, out);
#endif
    encode<T, Portable>(in, count, out);
    (void)context;
}

template <class T>
void decode_best(const Context &context, const unsigned char *in, std::size_t count, unsigned char *out) {
#if COLLPRESS_X86_KERNELS
    if (context.avx2) return decode<T, Avx2>(in, count, out);
#endif
    decode<T, Portable>(in, count, out);
    (void)context;
}

collpress_codec_result compress(void *opaque, const void *in, std::size_t count, void *out, std::size_t capacity,
                                std::size_t *out_bytes) {
    const auto &context = *static_cast<const Context *>(opaque);
    if (capacity < max_bytes(opaque, count)) return COLLPRESS_CODEC_SMALL_BUFFER;
    write_header(out, kMagic, context.dtype, count, 0.0, 0);
    const auto *from = static_cast<const unsigned char *>(in);
    auto *to = static_cast<unsigned char *>(out) + sizeof(StreamHeader);
    context.dtype == COLLPRESS_FLOAT32 ? encode_best<float>(context, from, count, to)
                                       : encode_best<double>(context, from, count, to);
    *out_bytes = max_bytes(opaque, count);
    return COLLPRESS_CODEC_OK;
}

collpress_codec_result decompress(void *opaque, const void *in, std::size_t bytes, void *out, std::size_t count) {
    const auto &context = *static_cast<const Context *>(opaque);
    std::uint8_t flags = 0;
    if (!read_header(in, bytes, kMagic, context.dtype, count, 0.0, &flags) || flags != 0 ||
        (bytes - sizeof(StreamHeader)) / 2 != count || bytes % 2 != 0)
        return COLLPRESS_CODEC_BAD_STREAM;
    const auto *from = static_cast<const unsigned char *>(in) + sizeof(StreamHeader);
    auto *to = static_cast<unsigned char *>(out);
    context.dtype == COLLPRESS_FLOAT32 ? decode_best<float>(context, from, count, to)
                                       : decode_best<double>(context, from, count, to);
    return COLLPRESS_CODEC_OK;
}

// Half the distance of two bfloat16 just below max_abs; under the normal numbers that distance is 2^-133.
double worst_error(const void *, double max_abs) {
    const double largest = 0x1.fep127, overflow = largest + 0x1p119; // from which on rounding gives infinity
    if (!(max_abs < overflow)) return std::numeric_limits<double>::infinity();
    const int exponent = max_abs > 0 ? std::ilogb(std::nextafter(max_abs, 0.0)) : -126;
    return std::ldexp(1.0, std::max(exponent, -126) - 8);
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
};
constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC, "cast to bfloat16, rounded to nearest even",
                                    &codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
