// The two floating-point formats of 16 bits, as values that convert to and from float; C++20 has neither.
#ifndef COLLPRESS_HALF_HPP
#define COLLPRESS_HALF_HPP

#include <bit>
#include <cstdint>

namespace collpress {

// IEEE 754 binary16: 11 significant bits, largest 65504. The conversions are free of branches, so loops vectorise.
struct Float16 {
    std::uint16_t bits;

    Float16() = default;
    // To the nearest, ties to even; beyond the largest to infinity; a NaN stays one.
    explicit Float16(float value) {
        const auto whole = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t sign = (whole >> 16) & 0x8000U;
        const std::uint32_t magnitude = whole & 0x7FFFFFFFU;
        // Below the smallest normal number the addition of 0.5 lets the processor round at the right bit.
        const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - half;
        const std::uint32_t normal = (magnitude - rebias + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13;
        const std::uint32_t special = magnitude > 0x7F800000U ? 0x7E00U : 0x7C00U;
        const std::uint32_t finite = magnitude < smallest_normal ? subnormal : normal;
        bits = static_cast<std::uint16_t>(sign | (magnitude >= too_large ? special : finite));
    }

    operator float() const {
        const std::uint32_t sign = (bits & 0x8000U) << 16;
        const auto scaled = std::bit_cast<std::uint32_t>(
            std::bit_cast<float>(static_cast<std::uint32_t>(bits & 0x7FFFU) << 13) * 0x1p112F);
        const std::uint32_t special = (bits & 0x7C00U) == 0x7C00U ? 0x7F800000U : 0U;
        return std::bit_cast<float>(sign | scaled | special);
    }

  private:
    static constexpr std::uint32_t half = 0x3F000000U;            // of 0.5
    static constexpr std::uint32_t rebias = 112U << 23;           // between the exponents' biases
    static constexpr std::uint32_t smallest_normal = 0x38800000U; // of 2^-14
    static constexpr std::uint32_t too_large = 0x47800000U;       // of 2^16
};

// The upper half of a float: 8 significant bits, a float's range.
struct BFloat16 {
    std::uint16_t bits;

    BFloat16() = default;
    // To the nearest, ties to even; a NaN stays one.
    explicit BFloat16(float value) {
        const auto whole = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t rounded = whole + 0x7FFFU + ((whole >> 16) & 1U);
        const bool is_nan = (whole & 0x7FFFFFFFU) > 0x7F800000U;
        bits = static_cast<std::uint16_t>((is_nan ? whole | 0x400000U : rounded) >> 16);
    }

    operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

static_assert(sizeof(Float16) == 2 && sizeof(BFloat16) == 2);

} // namespace collpress

#endif
