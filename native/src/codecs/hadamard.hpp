// The Walsh-Hadamard transform in blocks: it spreads a large value over its whole block, so that the block needs a
// smaller step. Orthonormal and its own inverse; lengths are arbitrary: what is left behind the last whole block is
// transformed in ever smaller powers of two (21 values: blocks of 16, 4 and 1).
#ifndef COLLPRESS_CODECS_HADAMARD_HPP
#define COLLPRESS_CODECS_HADAMARD_HPP

#include <bit>
#include <cmath>
#include <cstddef>

namespace collpress::codecs {

// One block of a power of two.
template <class T>
[[gnu::always_inline]] inline void hadamard_block(T *x, std::size_t size) {
    const auto butterflies = [](T *a, T *b, std::size_t n) __attribute__((always_inline)) {
        for (std::size_t i = 0; i < n; ++i) {
            const T sum = a[i] + b[i], difference = a[i] - b[i];
            a[i] = sum;
            b[i] = difference;
        }
    };
    // The small distances within eight values are unrolled: their loops are too short to be.
    std::size_t distance = 1;
    if (size >= 8) {
        for (std::size_t at = 0; at < size; at += 8) {
            T *v = x + at;
            const T a0 = v[0] + v[1], a1 = v[0] - v[1], a2 = v[2] + v[3], a3 = v[2] - v[3];
            const T a4 = v[4] + v[5], a5 = v[4] - v[5], a6 = v[6] + v[7], a7 = v[6] - v[7];
            const T b0 = a0 + a2, b1 = a1 + a3, b2 = a0 - a2, b3 = a1 - a3;
            const T b4 = a4 + a6, b5 = a5 + a7, b6 = a4 - a6, b7 = a5 - a7;
            v[0] = b0 + b4, v[1] = b1 + b5, v[2] = b2 + b6, v[3] = b3 + b7;
            v[4] = b0 - b4, v[5] = b1 - b5, v[6] = b2 - b6, v[7] = b3 - b7;
        }
        distance = 8;
    }
    for (; distance < size; distance *= 2)
        for (std::size_t at = 0; at < size; at += 2 * distance) butterflies(x + at, x + at + distance, distance);
    const T norm = static_cast<T>(1 / std::sqrt(static_cast<double>(size)));
    for (std::size_t i = 0; i < size; ++i) x[i] *= norm;
}

template <class T>
[[gnu::always_inline]] inline void hadamard(T *x, std::size_t count, std::size_t block) {
    while (count > 0) {
        while (block > count) block /= 2;
        hadamard_block(x, block);
        x += block;
        count -= block;
    }
}

// How far an error of at most `largest` in each transformed value can move a value. An orthonormal transform keeps the
// 2-norm, and no value of a block is further off than the whole block: sqrt(block) times as far.
inline double hadamard_spread(std::size_t block, double largest) {
    return std::sqrt(static_cast<double>(block)) * largest;
}

// What its additions round off, there and back, of values up to max_abs: a sum of `block` terms in log2(block) steps
// and a norm that is rounded itself, each off by less than half an epsilon, of values up to sqrt(block)*max_abs; the
// way back spreads it.
inline double hadamard_rounding(std::size_t block, double max_abs, double epsilon) {
    const double steps = std::bit_width(block) + 2;
    return 2 * steps * epsilon * static_cast<double>(block) * max_abs;
}

} // namespace collpress::codecs
#endif
