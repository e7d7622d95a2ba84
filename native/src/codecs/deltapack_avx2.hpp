// deltapack's narrow blocks with AVX2: the same streams as the portable kernel, byte for byte.
//
// A register of sixteen 16-bit lanes holds one value of each run, so that decoding sums without crossing lanes. Loads
// put run j into the lower half of a register and run j + 8 into the upper, which keeps packing, shifting by one value
// and transposing within halves.
#ifndef COLLPRESS_CODECS_DELTAPACK_AVX2_HPP
#define COLLPRESS_CODECS_DELTAPACK_AVX2_HPP

#include "cpu.hpp"

#if COLLPRESS_X86_KERNELS

#include "deltapack_format.hpp"

#include <array>
#include <immintrin.h>
#include <utility>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,prfchw"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,prfchw")
#endif

namespace collpress::codecs::deltapack {

namespace avx2 {

template <class T>
struct Quantise;

// q of four values at `a` and four at `b`, and the worst error of a value when it comes back. A NaN among the errors
// may get lost here: its q is INT32_MIN, as that of an infinity, and far from all others.
template <>
struct Quantise<float> {
    using Error = __m256;
    __m256 step, inverse, limit;

    explicit Quantise(const Quantiser<float> &q)
        : step(_mm256_set1_ps(q.step)), inverse(_mm256_set1_ps(q.inverse)), limit(_mm256_set1_ps(q.limit)) {}

    std::int32_t one(const unsigned char *a) const {
        float x;
        std::memcpy(&x, a, sizeof x);
        return _mm_cvtss_si32(_mm_mul_ss(_mm_set_ss(x), _mm256_castps256_ps128(inverse)));
    }

    __m256i operator()(const unsigned char *a, const unsigned char *b, Error &worst) const {
        const __m256 x = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(reinterpret_cast<const float *>(a))),
                                              _mm_loadu_ps(reinterpret_cast<const float *>(b)), 1);
        const __m256i q = _mm256_cvtps_epi32(_mm256_mul_ps(x, inverse));
        const __m256 error = _mm256_sub_ps(x, _mm256_mul_ps(_mm256_cvtepi32_ps(q), step));
        worst = _mm256_max_ps(worst, _mm256_andnot_ps(_mm256_set1_ps(-0.0f), error));
        return q;
    }

    bool within(Error worst) const { return _mm256_movemask_ps(_mm256_cmp_ps(worst, limit, _CMP_NLE_UQ)) == 0; }
};

template <>
struct Quantise<double> {
    using Error = __m256d;
    __m256d step, inverse, limit;

    explicit Quantise(const Quantiser<double> &q)
        : step(_mm256_set1_pd(q.step)), inverse(_mm256_set1_pd(q.inverse)), limit(_mm256_set1_pd(q.limit)) {}

    std::int32_t one(const unsigned char *a) const {
        double x;
        std::memcpy(&x, a, sizeof x);
        return _mm_cvtsd_si32(_mm_mul_sd(_mm_set_sd(x), _mm256_castpd256_pd128(inverse)));
    }

    __m128i four(const unsigned char *a, Error &worst) const {
        const __m256d x = _mm256_loadu_pd(reinterpret_cast<const double *>(a));
        const __m128i q = _mm256_cvtpd_epi32(_mm256_mul_pd(x, inverse));
        const __m256d error = _mm256_sub_pd(x, _mm256_mul_pd(_mm256_cvtepi32_pd(q), step));
        worst = _mm256_max_pd(worst, _mm256_andnot_pd(_mm256_set1_pd(-0.0), error));
        return q;
    }

    __m256i operator()(const unsigned char *a, const unsigned char *b, Error &worst) const {
        return _mm256_set_m128i(four(b, worst), four(a, worst));
    }

    bool within(Error worst) const { return _mm256_movemask_pd(_mm256_cmp_pd(worst, limit, _CMP_NLE_UQ)) == 0; }
};

inline __m256i delta(__m256i q, __m256i before) { return _mm256_sub_epi32(q, _mm256_alignr_epi8(q, before, 12)); }

inline __m256i fold(__m256i d) { return _mm256_xor_si256(_mm256_slli_epi16(d, 1), _mm256_srai_epi16(d, 15)); }

inline std::uint16_t any_lane(__m256i v) {
    __m128i m = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    m = _mm_or_si128(m, _mm_srli_si128(m, 8));
    m = _mm_or_si128(m, _mm_srli_si128(m, 4));
    m = _mm_or_si128(m, _mm_srli_si128(m, 2));
    return static_cast<std::uint16_t>(_mm_cvtsi128_si32(m));
}

// Two 8 x 8 matrices of 16-bit values, one in each half.
inline void transpose(const __m256i (&in)[8], __m256i *out) {
    const __m256i a0 = _mm256_unpacklo_epi16(in[0], in[1]), a1 = _mm256_unpackhi_epi16(in[0], in[1]);
    const __m256i a2 = _mm256_unpacklo_epi16(in[2], in[3]), a3 = _mm256_unpackhi_epi16(in[2], in[3]);
    const __m256i a4 = _mm256_unpacklo_epi16(in[4], in[5]), a5 = _mm256_unpackhi_epi16(in[4], in[5]);
    const __m256i a6 = _mm256_unpacklo_epi16(in[6], in[7]), a7 = _mm256_unpackhi_epi16(in[6], in[7]);
    const __m256i b0 = _mm256_unpacklo_epi32(a0, a2), b1 = _mm256_unpackhi_epi32(a0, a2);
    const __m256i b2 = _mm256_unpacklo_epi32(a1, a3), b3 = _mm256_unpackhi_epi32(a1, a3);
    const __m256i b4 = _mm256_unpacklo_epi32(a4, a6), b5 = _mm256_unpackhi_epi32(a4, a6);
    const __m256i b6 = _mm256_unpacklo_epi32(a5, a7), b7 = _mm256_unpackhi_epi32(a5, a7);
    out[0] = _mm256_unpacklo_epi64(b0, b4);
    out[1] = _mm256_unpackhi_epi64(b0, b4);
    out[2] = _mm256_unpacklo_epi64(b1, b5);
    out[3] = _mm256_unpackhi_epi64(b1, b5);
    out[4] = _mm256_unpacklo_epi64(b2, b6);
    out[5] = _mm256_unpackhi_epi64(b2, b6);
    out[6] = _mm256_unpacklo_epi64(b3, b7);
    out[7] = _mm256_unpackhi_epi64(b3, b7);
}

// Back from one value of each run a row to the order of the values.
inline void scatter(const __m256i (&rows)[8], std::int16_t *sums) {
    __m256i runs[8];
    transpose(rows, runs);
    for (std::size_t j = 0; j < 8; ++j) {
        _mm_store_si128(reinterpret_cast<__m128i *>(sums + 16 * j), _mm256_castsi256_si128(runs[j]));
        _mm_store_si128(reinterpret_cast<__m128i *>(sums + 16 * (j + 8)), _mm256_extracti128_si256(runs[j], 1));
    }
}

template <unsigned W>
struct Packer {
    static void call(const __m256i (&first)[8], const __m256i (&second)[8], unsigned char *out) {
        const __m256i bias = _mm256_set1_epi16(static_cast<short>(1 << (W - 1)));
        __m256i held = _mm256_setzero_si256();
        __m256i row[8];
        [&]<std::size_t... R>(std::index_sequence<R...>) {
            transpose(first, row);
            (one_row<R>(_mm256_add_epi16(row[R], bias), held, out), ...);
            transpose(second, row);
            (one_row<R + 8>(_mm256_add_epi16(row[R], bias), held, out), ...);
        }(std::make_index_sequence<8>{});
    }

    template <std::size_t R>
    static void one_row(__m256i value, __m256i &held, unsigned char *out) {
        constexpr std::size_t word = R * W / 16;
        constexpr int shift = static_cast<int>(R * W % 16), end = shift + static_cast<int>(W);
        held = shift == 0 ? value : _mm256_or_si256(held, _mm256_slli_epi16(value, shift));
        if constexpr (end >= 16) _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + 32 * word), held);
        if constexpr (end > 16) held = _mm256_srli_epi16(value, 16 - shift);
    }
};

// Leaves the sums in the order of the values; returns each run's total.
template <unsigned W>
struct Unpacker {
    static __m256i call(const unsigned char *in, std::int16_t *sums) {
        __m256i sum = _mm256_setzero_si256();
        __m256i rows[8];
        [&]<std::size_t... R>(std::index_sequence<R...>) {
            ((rows[R] = sum = _mm256_add_epi16(sum, one_row<R>(in))), ...);
            scatter(rows, sums);
            ((rows[R] = sum = _mm256_add_epi16(sum, one_row<R + 8>(in))), ...);
            scatter(rows, sums + 8);
        }(std::make_index_sequence<8>{});
        return sum;
    }

    template <std::size_t R>
    static __m256i one_row(const unsigned char *in) {
        return _mm256_sub_epi16(biased_row<R>(in), _mm256_set1_epi16(static_cast<short>(1 << (W - 1))));
    }

    template <std::size_t R>
    static __m256i biased_row(const unsigned char *in) {
        constexpr std::size_t word = R * W / 16;
        constexpr int shift = static_cast<int>(R * W % 16), end = shift + static_cast<int>(W);
        __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(in + 32 * word));
        if constexpr (shift > 0) value = _mm256_srli_epi16(value, shift);
        if constexpr (end > 16)
            value = _mm256_or_si256(
                value, _mm256_slli_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(in + 32 * (word + 1))),
                                         16 - shift));
        if constexpr (end != 16) value = _mm256_and_si256(value, _mm256_set1_epi16(static_cast<short>((1 << W) - 1)));
        return value;
    }
};

// The deltas of a block, row by row, their bias still on them.
template <unsigned W>
struct RowLoader {
    static void call(const unsigned char *in, __m256i *rows) {
        [&]<std::size_t... R>(std::index_sequence<R...>) {
            ((rows[R] = Unpacker<W>::template biased_row<R>(in)), ...);
        }(std::make_index_sequence<16>{});
    }
};

// Adds such rows to others and takes both biases off; returns what the outermost sums, folded, have of bits.
template <unsigned W>
struct RowAdder {
    static __m256i call(const unsigned char *in, __m256i bias, __m256i *rows) {
        __m256i most = _mm256_setzero_si256(), least = most;
        [&]<std::size_t... R>(std::index_sequence<R...>) {
            ((rows[R] = _mm256_add_epi16(_mm256_sub_epi16(rows[R], bias), Unpacker<W>::template biased_row<R>(in)),
              most = _mm256_max_epi16(most, rows[R]), least = _mm256_min_epi16(least, rows[R])),
             ...);
        }(std::make_index_sequence<16>{});
        return _mm256_or_si256(fold(most), fold(least));
    }
};

template <unsigned W>
struct RowPacker {
    static void call(const __m256i *rows, unsigned char *out) {
        const __m256i bias = _mm256_set1_epi16(static_cast<short>(1 << (W - 1)));
        __m256i held = _mm256_setzero_si256();
        [&]<std::size_t... R>(std::index_sequence<R...>) {
            (Packer<W>::template one_row<R>(_mm256_add_epi16(rows[R], bias), held, out), ...);
        }(std::make_index_sequence<16>{});
    }
};

// A block of no bits is never packed: entry 0 is there for the index only.
template <template <unsigned> class Kernel, std::size_t... W>
constexpr auto tables(std::index_sequence<W...>) {
    return std::array{&Kernel < W == 0 ? 1 : W > ::call...};
}

inline __m256i scan(__m256i v) {
    v = _mm256_add_epi32(v, _mm256_slli_si256(v, 4));
    v = _mm256_add_epi32(v, _mm256_slli_si256(v, 8));
    return _mm256_add_epi32(v, _mm256_shuffle_epi32(_mm256_permute2x128_si256(v, v, 0x08), 0xff));
}

// offsets[j] = before + the totals of the runs before j; returns the sum of all.
inline std::uint32_t offset_runs(__m256i totals, std::uint32_t before, std::int32_t *offsets) {
    const __m256i low = _mm256_cvtepi16_epi32(_mm256_castsi256_si128(totals));
    const __m256i high = _mm256_cvtepi16_epi32(_mm256_extracti128_si256(totals, 1));
    const __m256i low_sums = scan(low);
    const __m256i high_sums = _mm256_add_epi32(scan(high), _mm256_permutevar8x32_epi32(low_sums, _mm256_set1_epi32(7)));
    const __m256i base = _mm256_set1_epi32(static_cast<std::int32_t>(before));
    _mm256_store_si256(reinterpret_cast<__m256i *>(offsets), _mm256_add_epi32(base, _mm256_sub_epi32(low_sums, low)));
    _mm256_store_si256(reinterpret_cast<__m256i *>(offsets + 8),
                       _mm256_add_epi32(base, _mm256_sub_epi32(high_sums, high)));
    return static_cast<std::uint32_t>(_mm256_extract_epi32(high_sums, 7));
}

template <Stores How>
inline void put(unsigned char *out, __m256i v) {
    constexpr std::size_t ahead = 2048;
    if constexpr (How == Stores::streaming) {
        _mm256_stream_si256(reinterpret_cast<__m256i *>(out), v);
    } else {
        if (How != Stores::cached) __builtin_prefetch(out + ahead, 1);
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(out), v);
    }
}

// Eight values of `q`, times the step.
template <Stores How>
inline void values(__m256i q, float step, unsigned char *out) {
    __m256 x = _mm256_mul_ps(_mm256_cvtepi32_ps(q), _mm256_set1_ps(step));
    if constexpr (How == Stores::adding) x = _mm256_add_ps(_mm256_loadu_ps(reinterpret_cast<const float *>(out)), x);
    put<How>(out, _mm256_castps_si256(x));
}
template <Stores How>
inline void values(__m256i q, double step, unsigned char *out) {
    __m256d low = _mm256_mul_pd(_mm256_cvtepi32_pd(_mm256_castsi256_si128(q)), _mm256_set1_pd(step));
    __m256d high = _mm256_mul_pd(_mm256_cvtepi32_pd(_mm256_extracti128_si256(q, 1)), _mm256_set1_pd(step));
    if constexpr (How == Stores::adding) {
        low = _mm256_add_pd(_mm256_loadu_pd(reinterpret_cast<const double *>(out)), low);
        high = _mm256_add_pd(_mm256_loadu_pd(reinterpret_cast<const double *>(out + 32)), high);
    }
    put<How>(out, _mm256_castpd_si256(low));
    put<How>(out + 32, _mm256_castpd_si256(high));
}

template <class T, Stores How>
inline void emit(const std::int16_t *sums, const std::int32_t *offsets, T step, unsigned char *out) {
    for (std::size_t j = 0; j < kRuns; ++j) {
        const __m256i offset = _mm256_set1_epi32(offsets[j]);
        for (std::size_t k = 0; k < 16; k += 8) {
            const __m256i sum =
                _mm256_cvtepi16_epi32(_mm_load_si128(reinterpret_cast<const __m128i *>(sums + 16 * j + k)));
            values<How>(_mm256_add_epi32(sum, offset), step, out + (16 * j + k) * sizeof(T));
        }
    }
}

template <class T, Stores How>
inline void fill(std::uint32_t q, T step, unsigned char *out) {
    for (std::size_t i = 0; i < kBlock; i += 8)
        values<How>(_mm256_set1_epi32(static_cast<std::int32_t>(q)), step, out + i * sizeof(T));
}

template <class T, Stores How>
inline std::uint32_t unpack(const unsigned char *in, unsigned w, T step, std::uint32_t before, unsigned char *out) {
    static constexpr auto unpackers = tables<Unpacker>(std::make_index_sequence<kNarrow + 1>{});
    if (w == 0) {
        fill<T, How>(before, step, out);
        return before;
    }
    alignas(32) std::int16_t sums[kBlock]; // of the deltas of each run so far, value by value
    alignas(32) std::int32_t offsets[kRuns];
    const __m256i totals = unpackers[w](in, sums);
    const std::uint32_t last = before + offset_runs(totals, before, offsets);
    emit<T, How>(sums, offsets, step, out);
    return last;
}

} // namespace avx2

struct Avx2 {
    struct Scratch {
        __m256i first[8], second[8]; // deltas of runs j and j + 8: of their values 0..7 and 8..15
    };

    template <class T>
    static Block analyse(const unsigned char *in, const Quantiser<T> &quantiser, std::uint32_t before,
                         Scratch &scratch) {
        constexpr std::size_t half = 128 * sizeof(T);
        constexpr std::size_t four = 4 * sizeof(T);
        constexpr std::size_t ahead = 2048; // bytes: far enough for memory to answer
        const avx2::Quantise<T> quantise(quantiser);
        typename avx2::Quantise<T>::Error worst{};
        __m256i most = _mm256_setzero_si256(), least = most;
        __m256i previous = _mm256_set_m128i(_mm_set1_epi32(quantise.one(in + half - sizeof(T))),
                                            _mm_set1_epi32(static_cast<std::int32_t>(before)));
        for (std::size_t j = 0; j < 8; ++j) {
            const unsigned char *a = in + j * 4 * four;
            for (std::size_t line = 0; line < 4 * four; line += 64) {
                _mm_prefetch(reinterpret_cast<const char *>(a + line + ahead), _MM_HINT_T0);
                _mm_prefetch(reinterpret_cast<const char *>(a + line + half + ahead), _MM_HINT_T0);
            }
            const __m256i q0 = quantise(a, a + half, worst);
            const __m256i q1 = quantise(a + four, a + half + four, worst);
            const __m256i q2 = quantise(a + 2 * four, a + half + 2 * four, worst);
            const __m256i q3 = quantise(a + 3 * four, a + half + 3 * four, worst);
            const __m256i first = _mm256_packs_epi32(avx2::delta(q0, previous), avx2::delta(q1, q0));
            const __m256i second = _mm256_packs_epi32(avx2::delta(q2, q1), avx2::delta(q3, q2));
            most = _mm256_max_epi16(most, _mm256_max_epi16(first, second));
            least = _mm256_min_epi16(least, _mm256_min_epi16(first, second));
            scratch.first[j] = first;
            scratch.second[j] = second;
            previous = q3;
        }
        const unsigned width =
            width_of(static_cast<std::uint32_t>(avx2::any_lane(_mm256_or_si256(avx2::fold(most), avx2::fold(least)))));
        return {quantise.within(worst), width, static_cast<std::uint32_t>(_mm256_extract_epi32(previous, 7))};
    }

    static void pack(const Scratch &scratch, unsigned w, unsigned char *out) {
        static constexpr auto packers = avx2::tables<avx2::Packer>(std::make_index_sequence<kNarrow + 1>{});
        packers[w](scratch.first, scratch.second, out);
    }

    template <class T>
    static std::uint32_t unpack(const unsigned char *in, unsigned w, T step, std::uint32_t before, unsigned char *out,
                                Stores how) {
        switch (how) {
        case Stores::streaming:
            if (reinterpret_cast<std::uintptr_t>(out) % 32 == 0)
                return avx2::unpack<T, Stores::streaming>(in, w, step, before, out);
            [[fallthrough]];
        case Stores::fetching:
            return avx2::unpack<T, Stores::fetching>(in, w, step, before, out);
        case Stores::adding:
            return avx2::unpack<T, Stores::adding>(in, w, step, before, out);
        case Stores::cached:
            break;
        }
        return avx2::unpack<T, Stores::cached>(in, w, step, before, out);
    }

    struct Sums {
        __m256i rows[16];
    };

    static unsigned add(const unsigned char *a, unsigned width_a, const unsigned char *b, unsigned width_b,
                        Sums &sums) {
        static constexpr auto loaders = avx2::tables<avx2::RowLoader>(std::make_index_sequence<kNarrow + 1>{});
        static constexpr auto adders = avx2::tables<avx2::RowAdder>(std::make_index_sequence<kNarrow + 1>{});
        loaders[width_a](a, sums.rows);
        const __m256i bias = _mm256_set1_epi16(static_cast<short>((1 << (width_a - 1)) + (1 << (width_b - 1))));
        return width_of(avx2::any_lane(adders[width_b](b, bias, sums.rows)));
    }

    static void pack(const Sums &sums, unsigned w, unsigned char *out) {
        static constexpr auto packers = avx2::tables<avx2::RowPacker>(std::make_index_sequence<kNarrow + 1>{});
        packers[w](sums.rows, out);
    }

    // Streaming stores are ordered with what follows.
    static void finish() { _mm_sfence(); }
};

} // namespace collpress::codecs::deltapack

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
#endif
