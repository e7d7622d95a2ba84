// 64 bits that say whether a buffer is, bit by bit, what it was before. Each step is a bijection of its lane, so that
// one changed word always shows, and several hide with a chance of 2^-64. Quicker than the memory, unlike sha256.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace collpress {

inline std::uint64_t checksum(const std::byte *data, std::size_t bytes) {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15U; // 2^64 over the golden ratio (Knuth, vol. 3, 6.4)
    std::array<std::uint64_t, 4> lanes = {1, 2, 3, 4}; // four multiplications at once
    const auto take = [&](const std::byte *from) {
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            std::uint64_t word = 0;
            std::memcpy(&word, from + i * sizeof word, sizeof word);
            lanes[i] = std::rotl((lanes[i] ^ word) * odd, 29);
        }
    };
    std::size_t done = 0;
    for (; done + sizeof lanes <= bytes; done += sizeof lanes) take(data + done);
    std::array<std::byte, sizeof lanes> rest{};
    if (done != bytes) std::memcpy(rest.data(), data + done, bytes - done);
    take(rest.data());
    std::uint64_t sum = bytes;
    for (const std::uint64_t lane : lanes) sum = std::rotl((sum ^ lane) * odd, 29);
    return sum ^ (sum >> 32);
}

} // namespace collpress
