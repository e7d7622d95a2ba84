// The stream of deltapack-dense.
//
//   stream  = StreamHeader, chunk ...       a chunk holds 262144 values, the last one the rest; chunks are independent
//   chunk   = ChunkHeader, then by its mode
//     raw     the values' own bytes
//     codes, states
//             Predictor x bands · table · mask of raw blocks, if any · bits of the symbols, in parts · low bits ·
//             escapes · the values of the raw blocks
//   table   = codes:  32 bytes, the lengths of the codes of two symbols in each
//             states: 8 bytes, a bit for each of 64 symbols; then for each that is set, in order, 16 bits: how many of
//                     the 2^table_bits states it has. No bits of symbols follow where one symbol has all of them.
//
// A value x is q·step with q = rint(x / step), as in deltapack. A residual r = q - prediction (modulo 2^32) becomes the
// symbol (r >> low) + 31 and, in a place of their own, its `low` lowest bits. Symbol 63 stands for residuals that have
// no symbol of theirs; these lie among the escapes, 32 bits each, in order. Symbols have prefix codes
// (deltapack_dense_codes.hpp, four parts) or, where those would waste much, which is where few bits a value are needed,
// states (deltapack_dense_states.hpp, two parts). Low bits lie as pack_low writes them.
//
// A block is 64 values. One that would break the bound (NaN, infinities, and values of more than 2^31 steps do) is raw:
// its bit in the mask is set, and its values replace what is decoded, which is the encoder's choice.
//
// Neighbours are q[i - 1], q[i - row] and so on, where row and plane are the ones of the configuration: both sides know
// them, and a message may begin anywhere. The first 1 + row values of a chunk have no neighbours in the row before, the
// first 1 + row + plane none in the plane before; so a chunk has up to three bands of values, each with a Predictor of
// its own. What lies before a chunk counts as `start`. The checksum covers header, predictors, table and mask.
#ifndef COLLPRESS_CODECS_DELTAPACK_DENSE_FORMAT_HPP
#define COLLPRESS_CODECS_DELTAPACK_DENSE_FORMAT_HPP

#include "deltapack_steps.hpp"

#include <array>

namespace collpress::codecs::dense {

constexpr std::uint32_t kMagic = 0x31444443;         // "CDD1"
constexpr std::size_t kChunk = std::size_t{1} << 18; // values
constexpr std::size_t kBlock = 64;                   // values
constexpr std::size_t kGroup = 256;                  // values whose low bits lie together
constexpr std::size_t kSymbols = 64;
constexpr std::uint32_t kMiddle = 31; // the symbol of 0
constexpr std::uint32_t kEscape = 63;
constexpr unsigned kMostLow = 24;
constexpr unsigned kLeastTable = 8, kMostTable = 12; // bits
constexpr std::size_t kTaps = 6;

enum class Mode : std::uint8_t { raw = 0, states = 1, codes = 2 };

struct ChunkHeader {
    std::uint32_t bytes; // of the whole chunk, header included
    std::uint32_t check;
    Mode mode;
    std::uint8_t low;
    std::uint8_t table_bits; // of states
    std::uint8_t bands;
    std::uint32_t start;
    double step;
    std::uint32_t parts[4]; // bytes of the bits of each
    std::uint32_t escapes;
    std::uint32_t raw_blocks;
};
static_assert(sizeof(ChunkHeader) == 48);

// What a value is predicted from besides the one before it, q1:
//   q1 + (sum of weights[k]·(neighbour k - q1) + mean·(start - q1) + 128) / 256, rounded down;
// all modulo 2^32.
// `none` predicts start. Weights of 256 give Lorenzo's predictors. `plane` and `space` count rows of `row` values from
// the begin of their band; the first value of a row takes q[i - row] for q1 and for q[i - row - 1], so that a decoder
// can follow several rows at a time, each a little behind the one above.
enum class Kind : std::uint16_t { none = 0, line = 1, plane = 2, space = 3 };

struct Predictor {
    Kind kind;
    std::int16_t weights[kTaps];
    std::int16_t mean;
};
static_assert(sizeof(Predictor) == 16);
constexpr unsigned kWeightBits = 8;

constexpr std::size_t taps_of(Kind kind) {
    constexpr std::size_t taps[] = {0, 1, 3, 6};
    return taps[static_cast<std::size_t>(kind)];
}

// How far back the neighbours of a kind lie.
constexpr std::array<std::size_t, kTaps> neighbours(Kind kind, std::size_t row, std::size_t plane) {
    switch (kind) {
    case Kind::plane:
        return {row, row + 1, row - 1};
    case Kind::space:
        return {row, plane, row + 1, plane + 1, plane + row, plane + row + 1};
    case Kind::none:
    case Kind::line:
        break;
    }
    return {2};
}

// The bands of a chunk: where each ends, and the best kind that it can have.
struct Bands {
    std::size_t count;
    std::size_t ends[3];
    Kind kinds[3];
};

// Rows of fewer values than this count as unknown.
constexpr std::size_t kLeastRow = 16;

constexpr Bands bands_of(std::size_t count, std::uint64_t row, std::uint64_t plane) {
    Bands bands{1, {count}, {Kind::line}};
    if (row < kLeastRow || row + 1 >= count) return bands;
    bands = {2, {static_cast<std::size_t>(row) + 1, count}, {Kind::line, Kind::plane}};
    if (plane < 2 * row || plane >= count || plane + row + 1 >= count) return bands;
    bands = {
        3, {bands.ends[0], static_cast<std::size_t>(plane + row) + 1, count}, {Kind::line, Kind::plane, Kind::space}};
    return bands;
}

constexpr std::size_t chunks_of(std::size_t count) { return count / kChunk + (count % kChunk != 0 ? 1 : 0); }
constexpr std::size_t blocks_of(std::size_t count) { return count / kBlock + (count % kBlock != 0 ? 1 : 0); }
constexpr std::size_t groups_of(std::size_t count) { return count / kGroup + (count % kGroup != 0 ? 1 : 0); }

// `rest` lies behind the header: predictors, table and mask.
inline std::uint32_t chunk_check(ChunkHeader header, const unsigned char *rest, std::size_t bytes) {
    header.check = 0;
    return static_cast<std::uint32_t>(checksum(rest, bytes, checksum(&header, sizeof header, 3)));
}

} // namespace collpress::codecs::dense
#endif
