// How evenly magnitudes are spread over some values: the entropy, in bits, of p_i = |x_i| / sum |x|.
//
// With s = sum |x|, it is log2 s - (sum |x| log2 |x|) / s. Logarithms are good to 1.2e-4, by arithmetic
// of our own in a fixed order, so that every machine finds the same.
#ifndef COLLPRESS_CODECS_ENTROPY_HPP
#define COLLPRESS_CODECS_ENTROPY_HPP

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace collpress::codecs {

// Of a positive normal number: the exponent, and a polynomial through 0 at 1 and 1 at 2 of the significand.
[[gnu::always_inline]] inline float fast_log2(float x) {
    const auto bits = std::bit_cast<std::int32_t>(x);
    const float exponent = static_cast<float>((bits >> 23) - 127);
    const float t = std::bit_cast<float>((bits & 0x7fffff) | 0x3f800000) - 1;
    // t + t(1 - t)(a + bt + ct^2): fitted to log2(1 + t), off by less than 1.2e-4.
    const float bend = 0.43872567f + t * (-0.23905796f + t * 0.08213047f);
    return exponent + (t + t * (1 - t) * bend);
}

// Of `size` finite values, at most `room`, whose largest magnitude is `largest`; 0 where that is 0. `size` is a
// multiple of 8: what is too much are zeros.
template <std::size_t room, class T>
[[gnu::always_inline]] inline float entropy(const T *x, std::size_t size, T largest) {
    if (!(largest > 0)) return 0;
    constexpr std::size_t lanes = 8;
    constexpr float least = 1e-30f; // of all shares: zeros have no logarithm
    alignas(32) std::array<float, room> shares, weighted;
    for (std::size_t i = 0; i < size; ++i) shares[i] = static_cast<float>(std::abs(x[i]) / largest) + least;
    for (std::size_t i = 0; i < size; ++i) weighted[i] = shares[i] * fast_log2(shares[i]);
    std::array<float, lanes> sums{}, products{};
    for (std::size_t at = 0; at < size; at += lanes)
        for (std::size_t i = 0; i < lanes; ++i) {
            sums[i] += shares[at + i];
            products[i] += weighted[at + i];
        }
    float sum = 0, product = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
        sum += sums[i];
        product += products[i];
    }
    return fast_log2(sum) - product / sum;
}

} // namespace collpress::codecs
#endif
