// The loops of deltapack-dense over all values, compiled twice: for any CPU, and for AVX2 with BMI2, where the compiler
// makes vectors of the same loops. They compute with integers and with single operations of IEEE 754, so that both give
// the same bits.
#ifndef COLLPRESS_CODECS_DELTAPACK_DENSE_KERNELS_HPP
#define COLLPRESS_CODECS_DELTAPACK_DENSE_KERNELS_HPP

#include "cpu.hpp"
#include "deltapack_dense_codes.hpp"
#include "deltapack_dense_predict.hpp"

#include <utility>

#if COLLPRESS_X86_KERNELS
#include <immintrin.h>
#endif

namespace collpress::codecs::dense {

using deltapack::Quantiser;

namespace loops {

// q of a block; false where a value would not come back within the bound, as NaN and infinities do not.
template <class T>
COLLPRESS_INLINE bool quantise(const unsigned char *in, const Quantiser<T> &quantiser, std::uint32_t *q) {
    bool good = true;
    for (std::size_t i = 0; i < kBlock; ++i) {
        T x;
        std::memcpy(&x, in + i * sizeof x, sizeof x);
        const std::int32_t nearest = deltapack::nearest(static_cast<T>(x * quantiser.inverse));
        good &= std::abs(x - static_cast<T>(nearest) * quantiser.step) <= quantiser.limit;
        q[i] = static_cast<std::uint32_t>(nearest);
    }
    return good;
}

// Symbols of `count` residuals.
COLLPRESS_INLINE void symbols(const std::uint32_t *__restrict residuals, std::size_t count, unsigned low,
                              std::uint8_t *__restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t symbol =
            static_cast<std::uint32_t>(static_cast<std::int32_t>(residuals[i]) >> low) + kMiddle;
        out[i] = static_cast<std::uint8_t>(symbol < kEscape ? symbol : kEscape);
    }
}

// Residuals but for the low bits and escapes.
COLLPRESS_INLINE void residuals(const std::uint8_t *__restrict symbols, std::size_t count, unsigned low,
                                std::uint32_t *__restrict out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = (std::uint32_t{symbols[i]} - kMiddle) << low;
}

// Writes the low bits of a group of 256 values: 32·low bytes. Eight lanes of 32-bit words; value i is in lane i mod 8,
// and a lane's values follow each other from the lowest bit.
using Lanes [[gnu::vector_size(32), gnu::may_alias, gnu::aligned(1)]] = std::uint32_t;

COLLPRESS_INLINE void pack_low(const std::uint32_t *residuals, unsigned low, unsigned char *out) {
    const std::uint32_t mask = (1u << low) - 1;
    Lanes held = {};
    unsigned filled = 0;
    for (std::size_t row = 0; row < kGroup / 8; ++row) {
        const Lanes value = *reinterpret_cast<const Lanes *>(residuals + 8 * row) & mask;
        held |= value << filled;
        filled += low;
        if (filled < 32) continue;
        *reinterpret_cast<Lanes *>(out) = held;
        out += sizeof held;
        filled -= 32;
        held = filled == 0 ? Lanes{} : value >> (low - filled);
    }
}

// Adds a group's low bits.
COLLPRESS_INLINE void unpack_low(const unsigned char *in, unsigned low, std::uint32_t *residuals) {
    const std::uint32_t mask = (1u << low) - 1;
    Lanes held = {};
    unsigned filled = 0;
    for (std::size_t row = 0; row < kGroup / 8; ++row) {
        Lanes value = held;
        if (filled < low) {
            held = *reinterpret_cast<const Lanes *>(in);
            in += sizeof held;
            value |= held << filled;
            held >>= low - filled;
            filled += 32;
        } else {
            held >>= low;
        }
        filled -= low;
        *reinterpret_cast<Lanes *>(residuals + 8 * row) += value & mask;
    }
}

// How often there is each symbol in the first of each `every` blocks; returns how many symbols were counted.
COLLPRESS_INLINE std::size_t count_symbols(const std::uint8_t *symbols, std::size_t count, std::size_t every,
                                           Counts &counts) {
    std::uint32_t tables[4][kSymbols] = {};
    std::size_t counted = 0;
    for (std::size_t at = 0; at < count; at += kBlock * every) {
        const std::size_t end = count - at < kBlock ? count : at + kBlock;
        std::size_t i = at;
        for (; i + 8 <= end; i += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, symbols + i, sizeof eight);
            for (unsigned k = 0; k < 8; ++k) ++tables[k % 4][(eight >> (8 * k)) & 255];
        }
        for (; i < end; ++i) ++tables[0][symbols[i]];
        counted += end - at;
    }
    for (std::size_t s = 0; s < kSymbols; ++s) counts[s] = tables[0][s] + tables[1][s] + tables[2][s] + tables[3][s];
    return counted;
}

// Whether any of 64 symbols lies outside of [first, first + most].
COLLPRESS_INLINE bool any_outside(const std::uint8_t *symbols, std::uint8_t first, std::uint8_t most) {
    std::uint8_t found = 0;
    for (std::size_t i = 0; i < kBlock; ++i)
        found |= static_cast<std::uint8_t>(static_cast<std::uint8_t>(symbols[i] - first) > most ? 1 : 0);
    return found != 0;
}

template <class T>
COLLPRESS_INLINE void dequantise(const std::uint32_t *__restrict q, std::size_t count, T step,
                                 unsigned char *__restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        const T x = static_cast<T>(static_cast<std::int32_t>(q[i])) * step;
        std::memcpy(out + i * sizeof x, &x, sizeof x);
    }
}

template <class T>
COLLPRESS_INLINE void add_dequantised(const std::uint32_t *__restrict q, std::size_t count, T step,
                                      unsigned char *__restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        T sum;
        std::memcpy(&sum, out + i * sizeof sum, sizeof sum);
        sum = sum + static_cast<T>(static_cast<std::int32_t>(q[i])) * step;
        std::memcpy(out + i * sizeof sum, &sum, sizeof sum);
    }
}

} // namespace loops

#if COLLPRESS_X86_KERNELS
namespace avx2 {

// The vector conversions round as deltapack::nearest() does, and give INT32_MIN as it does.
[[gnu::target("avx2,bmi,bmi2")]] inline bool quantise(const unsigned char *in, const Quantiser<float> &quantiser,
                                                      std::uint32_t *q) {
    const __m256 step = _mm256_set1_ps(quantiser.step), inverse = _mm256_set1_ps(quantiser.inverse);
    const __m256 limit = _mm256_set1_ps(quantiser.limit), sign = _mm256_set1_ps(-0.0f);
    __m256 good = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    for (std::size_t i = 0; i < kBlock; i += 8) {
        const __m256 x = _mm256_loadu_ps(reinterpret_cast<const float *>(in + i * sizeof(float)));
        const __m256i nearest = _mm256_cvtps_epi32(_mm256_mul_ps(x, inverse));
        const __m256 error = _mm256_sub_ps(x, _mm256_mul_ps(_mm256_cvtepi32_ps(nearest), step));
        good = _mm256_and_ps(good, _mm256_cmp_ps(_mm256_andnot_ps(sign, error), limit, _CMP_LE_OQ));
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(q + i), nearest);
    }
    return _mm256_movemask_ps(good) == 255;
}

[[gnu::target("avx2,bmi,bmi2")]] inline bool quantise(const unsigned char *in, const Quantiser<double> &quantiser,
                                                      std::uint32_t *q) {
    const __m256d step = _mm256_set1_pd(quantiser.step), inverse = _mm256_set1_pd(quantiser.inverse);
    const __m256d limit = _mm256_set1_pd(quantiser.limit), sign = _mm256_set1_pd(-0.0);
    __m256d good = _mm256_castsi256_pd(_mm256_set1_epi32(-1));
    for (std::size_t i = 0; i < kBlock; i += 4) {
        const __m256d x = _mm256_loadu_pd(reinterpret_cast<const double *>(in + i * sizeof(double)));
        const __m128i nearest = _mm256_cvtpd_epi32(_mm256_mul_pd(x, inverse));
        const __m256d error = _mm256_sub_pd(x, _mm256_mul_pd(_mm256_cvtepi32_pd(nearest), step));
        good = _mm256_and_pd(good, _mm256_cmp_pd(_mm256_andnot_pd(sign, error), limit, _CMP_LE_OQ));
        _mm_storeu_si128(reinterpret_cast<__m128i *>(q + i), nearest);
    }
    return _mm256_movemask_pd(good) == 15;
}

} // namespace avx2
#endif

// Kernels: call<f>(...) is f(...) compiled for the kernel's CPUs; f is always inlined.
struct Portable {
    template <class T>
    static bool quantise(const unsigned char *in, const Quantiser<T> &quantiser, std::uint32_t *q) {
        return loops::quantise(in, quantiser, q);
    }

    template <auto Function, class... Arguments>
    static auto call(Arguments &&...arguments) {
        return Function(std::forward<Arguments>(arguments)...);
    }
};

#if COLLPRESS_X86_KERNELS
struct Avx2 {
    template <class T>
    static bool quantise(const unsigned char *in, const Quantiser<T> &quantiser, std::uint32_t *q) {
        return avx2::quantise(in, quantiser, q);
    }

    template <auto Function, class... Arguments>
    [[gnu::target("avx2,bmi,bmi2")]] static auto call(Arguments &&...arguments) {
        return Function(std::forward<Arguments>(arguments)...);
    }
};
#endif

} // namespace collpress::codecs::dense
#endif
