// What encoder and decoder of deltapack-dense share.
#ifndef COLLPRESS_CODECS_DELTAPACK_DENSE_CHUNK_HPP
#define COLLPRESS_CODECS_DELTAPACK_DENSE_CHUNK_HPP

#include "deltapack_dense_kernels.hpp"

namespace collpress::codecs::dense {

// What a chunk needs besides input and output.
struct Workspace {
    alignas(32) std::uint32_t integers[kBefore + kChunk + kGroup];
    alignas(32) std::uint8_t symbols[kChunk + kGroup];
    unsigned char bits[std::max(kParts * part_room(kChunk), 2 * half_room(kChunk / 2 + 1))];
    unsigned char low[kChunk / 8 * kMostLow];
    std::uint32_t escapes[kChunk];
    std::uint64_t raw[kChunk / kBlock / 64];
    EncodeTable encode;
    DecodeTable decode;
    PairCodes pairs;
    CodeTable codes;

    std::uint32_t *q() { return integers + kBefore; }
    bool is_raw(std::size_t block) const { return (raw[block / 64] >> (block % 64) & 1) != 0; }
};

struct Shape {
    std::size_t row, plane;
    Bands bands;
};

inline Shape shape_of(std::uint64_t row, std::uint64_t plane, std::size_t count) {
    // What is longer than a chunk, bands_of() refuses.
    const auto fits = [](std::uint64_t n) { return static_cast<std::size_t>(std::min<std::uint64_t>(n, kChunk)); };
    return {fits(row), fits(plane), bands_of(count, row, plane)};
}

inline std::size_t begin_of(const Bands &bands, std::size_t band) { return band == 0 ? 0 : bands.ends[band - 1]; }

} // namespace collpress::codecs::dense
#endif
