// Random numbers for stochastic rounding that come of counters, not of a state: the draw for a value depends on the
// seed, the rank, the value's place, and the scale of its group (so that other data meet other draws). Equal seeds,
// ranks and inputs give equal streams, on every machine and in any order.
#ifndef COLLPRESS_CODECS_RANDOM_HPP
#define COLLPRESS_CODECS_RANDOM_HPP

#include <cstddef>
#include <cstdint>

namespace collpress::codecs {

// The finaliser of SplitMix64: G. L. Steele, D. Lea, C. H. Flood: Fast Splittable Pseudorandom Number Generators.
// OOPSLA 2014, doi:10.1145/2660193.2660195. A bijection in which each bit of the input moves half of the output's.
constexpr std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// What a rank's draws begin with.
constexpr std::uint64_t rank_key(std::uint64_t seed, std::uint32_t rank) { return mixed(mixed(seed) + rank); }

// Of one group of values.
constexpr std::uint32_t group_key(std::uint64_t key, std::uint64_t group, std::uint64_t scale_bits) {
    return static_cast<std::uint32_t>(mixed(key ^ mixed(group ^ mixed(scale_bits))) >> 32);
}

// Uniform in (-1/2, 1/2): the middles of 65,536 equal parts. A 32-bit hash in two multiplications, which vectorise
// (its constants: C. Wellons, Prospecting for Hash Functions, 2018, public domain).
template <class T>
[[gnu::always_inline]] inline T noise(std::uint32_t key, std::size_t i) {
    std::uint32_t x = key ^ (static_cast<std::uint32_t>(i) * 0x9e3779b9u);
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    x ^= x >> 16;
    return static_cast<T>(static_cast<std::int32_t>(x >> 16) * 2 - 65535) * static_cast<T>(1.0 / 131072);
}

} // namespace collpress::codecs
#endif
