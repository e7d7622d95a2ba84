// Casts: every value becomes a word of fewer bits, rounded to nearest, ties to even.
//
//   stream = StreamHeader, one word a value
//
// A format says what its words mean:
//   Word, magic                                 unsigned type of a word; the stream's first four bytes
//   static Word rounded(std::uint32_t bits)     the word of a float, given by its bits
//   static float widened(Word)                  exact
//   static double worst_error(double max_abs)   as in collpress_codec
// Both loops vectorise if the functions have no branches.
#ifndef COLLPRESS_CODECS_CAST_HPP
#define COLLPRESS_CODECS_CAST_HPP

#include "cpu.hpp"
#include "stream.hpp"

#include <algorithm>
#include <cmath>
#include <new>

namespace collpress::codecs {

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

// Half the distance of two neighbours just below max_abs, of a format with so many significant bits; under the normal
// numbers, which end at 2^least_exponent, the distance stays the same.
inline double half_step(double max_abs, int significant_bits, int least_exponent) {
    const int exponent = max_abs > 0 ? std::ilogb(std::nextafter(max_abs, 0.0)) : least_exponent;
    return std::ldexp(1.0, std::max(exponent, least_exponent) - significant_bits);
}

template <class Format>
class Cast {
    using Word = typename Format::Word;

    static constexpr std::size_t kBatch = 1024; // values handled at once, from and to any alignment

    struct Context {
        std::uint32_t dtype;
        bool avx2;
    };

    template <class T>
    [[gnu::always_inline]] static void narrow(const T *x, Word *words) {
        for (std::size_t i = 0; i < kBatch; ++i) words[i] = Format::rounded(bits_of(x[i]));
    }
    template <class T>
    [[gnu::always_inline]] static void widen(const Word *words, T *x) {
        for (std::size_t i = 0; i < kBatch; ++i) x[i] = static_cast<T>(Format::widened(words[i]));
    }

    // How a batch's loops are compiled.
    struct Portable {
        template <class T>
        static void encode(const T *x, Word *words) {
            narrow(x, words);
        }
        template <class T>
        static void decode(const Word *words, T *x) {
            widen(words, x);
        }
    };
#if COLLPRESS_X86_KERNELS
    struct Avx2 {
        template <class T>
        [[gnu::target("avx2")]] static void encode(const T *x, Word *words) {
            narrow(x, words);
        }
        template <class T>
        [[gnu::target("avx2")]] static void decode(const Word *words, T *x) {
            widen(words, x);
        }
    };
#endif

    template <class T, class Kernel>
    static void encode(const unsigned char *in, std::size_t count, unsigned char *out) {
        alignas(32) T x[kBatch] = {};
        alignas(32) Word words[kBatch];
        for (std::size_t at = 0; at < count; at += kBatch) {
            const std::size_t values = std::min(kBatch, count - at);
            std::memcpy(x, in + at * sizeof(T), values * sizeof(T));
            Kernel::encode(x, words);
            std::memcpy(out + sizeof(Word) * at, words, sizeof(Word) * values);
        }
    }

    template <class T, class Kernel>
    static void decode(const unsigned char *in, std::size_t count, unsigned char *out) {
        alignas(32) T x[kBatch];
        alignas(32) Word words[kBatch] = {};
        for (std::size_t at = 0; at < count; at += kBatch) {
            const std::size_t values = std::min(kBatch, count - at);
            std::memcpy(words, in + sizeof(Word) * at, sizeof(Word) * values);
            Kernel::decode(words, x);
            std::memcpy(out + at * sizeof(T), x, values * sizeof(T));
        }
    }

    template <class T>
    static void encode_best(bool avx2, const unsigned char *in, std::size_t count, unsigned char *out) {
#if COLLPRESS_X86_KERNELS
        if (avx2) return encode<T, Avx2>(in, count, out);
#endif
        encode<T, Portable>(in, count, out);
        (void)avx2;
    }

    template <class T>
    static void decode_best(bool avx2, const unsigned char *in, std::size_t count, unsigned char *out) {
#if COLLPRESS_X86_KERNELS
        if (avx2) return decode<T, Avx2>(in, count, out);
#endif
        decode<T, Portable>(in, count, out);
        (void)avx2;
    }

    static void *create(const collpress_codec_config *config, collpress_codec_result *result) {
        if (config->dtype != COLLPRESS_FLOAT32 && config->dtype != COLLPRESS_FLOAT64) {
            *result = COLLPRESS_CODEC_UNSUPPORTED;
            return nullptr;
        }
        auto *context = new (std::nothrow) Context{config->dtype, has_avx2()};
        *result = context != nullptr ? COLLPRESS_CODEC_OK : COLLPRESS_CODEC_FAILED;
        return context;
    }

    static void destroy(void *context) { delete static_cast<Context *>(context); }

    static std::size_t max_bytes(const void *, std::size_t count) {
        return sizeof(StreamHeader) + sizeof(Word) * count;
    }

    static collpress_codec_result compress(void *opaque, const void *in, std::size_t count, void *out,
                                           std::size_t capacity, std::size_t *out_bytes) {
        const auto &context = *static_cast<const Context *>(opaque);
        if (capacity < max_bytes(opaque, count)) return COLLPRESS_CODEC_SMALL_BUFFER;
        write_header(out, Format::magic, context.dtype, count, 0.0, 0);
        const auto *from = static_cast<const unsigned char *>(in);
        auto *to = static_cast<unsigned char *>(out) + sizeof(StreamHeader);
        context.dtype == COLLPRESS_FLOAT32 ? encode_best<float>(context.avx2, from, count, to)
                                           : encode_best<double>(context.avx2, from, count, to);
        *out_bytes = max_bytes(opaque, count);
        return COLLPRESS_CODEC_OK;
    }

    static collpress_codec_result decompress(void *opaque, const void *in, std::size_t bytes, void *out,
                                             std::size_t count) {
        const auto &context = *static_cast<const Context *>(opaque);
        std::uint8_t flags = 0;
        if (!read_header(in, bytes, Format::magic, context.dtype, count, 0.0, &flags) || flags != 0 ||
            (bytes - sizeof(StreamHeader)) / sizeof(Word) != count || bytes % sizeof(Word) != 0)
            return COLLPRESS_CODEC_BAD_STREAM;
        const auto *from = static_cast<const unsigned char *>(in) + sizeof(StreamHeader);
        auto *to = static_cast<unsigned char *>(out);
        context.dtype == COLLPRESS_FLOAT32 ? decode_best<float>(context.avx2, from, count, to)
                                           : decode_best<double>(context.avx2, from, count, to);
        return COLLPRESS_CODEC_OK;
    }

    static double worst_error(const void *, double max_abs) { return Format::worst_error(max_abs); }

  public:
    static constexpr collpress_codec codec{
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
};

} // namespace collpress::codecs
#endif
