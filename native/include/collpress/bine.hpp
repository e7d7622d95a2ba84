// Negabinary numbers, and who communicates with whom in Bine (binomial negabinary) trees and butterflies.
//
// D. De Sensi, S. Pasqualoni, L. Piarulli, T. Bonato, S. Ba, M. Turisini, J. Domke, T. Hoefler: Bine Trees: Enhancing
// Collective Operations by Optimizing Communication Locality. SC 2025, doi:10.1145/3712285.3759835.
#ifndef COLLPRESS_BINE_HPP
#define COLLPRESS_BINE_HPP

#include <cstdint>

namespace collpress {

// Base -2: bit i counts (-2)^i.
inline constexpr std::uint32_t odd_bits = 0xAAAAAAAAU;
constexpr std::uint32_t to_negabinary(std::int32_t value) {
    return (static_cast<std::uint32_t>(value) + odd_bits) ^ odd_bits;
}
constexpr std::int32_t from_negabinary(std::uint32_t digits) {
    return static_cast<std::int32_t>((digits ^ odd_bits) - odd_bits);
}
constexpr std::uint32_t low_bits(std::int32_t bits) { return (std::uint32_t{1} << bits) - 1; }

// The partner of a position in exchange `level` of a Bine butterfly on a power of two of positions: 1, 1, 3, 5, 11, ...
// away, even positions to one side and odd ones to the other.
constexpr std::int32_t bine_partner(std::int32_t position, std::int32_t level, std::int32_t positions) {
    const std::int32_t distance = from_negabinary(low_bits(level + 1));
    return (position + (position % 2 == 0 ? distance : -distance)) & (positions - 1);
}

} // namespace collpress

#endif
