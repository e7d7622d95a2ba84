// The stream of deltapack, and the portable kernels that define it.
//
//   stream  = StreamHeader, chunk ...                      a chunk holds 65536 values, the last one the rest
//   chunk   = ChunkHeader, one width byte a block, block ...     chunks are independent of each other
//   block   = 256 values; by its width byte w:
//     0         every delta is zero: no bytes
//     1 .. 12   16-bit lanes: 32·w bytes, see pack_narrow
//     13 .. 32  32-bit lanes: 32·w bytes, see pack_wide
//     255       raw: the values' own bytes (a last, short block: only the values there are)
//
// A value x is q·step with q = rint(x / step) and step a little below 2·bound: bound/64 below, and where a chunk has
// values so large that their rounding needs more room, twice as much, or four times, ... A packed block holds d = q -
// q_before (modulo 2^32); `q_before` of a chunk's first value is the chunk's `start`; raw blocks leave it as it was. A
// short last block is padded with copies of its last value, and stored raw where that is smaller. The checksum covers
// chunk header and widths, not the packed bits.
#ifndef COLLPRESS_CODECS_DELTAPACK_FORMAT_HPP
#define COLLPRESS_CODECS_DELTAPACK_FORMAT_HPP

#include "deltapack_stores.hpp"
#include "stream.hpp"

#include <cmath>
#include <limits>

namespace collpress::codecs::deltapack {

constexpr std::uint32_t kMagic = 0x31504443; // "CDP1"
constexpr std::size_t kBlock = 256;          // values
constexpr std::size_t kRuns = 16;            // a block is 16 runs of 16 consecutive values
constexpr std::size_t kChunk = 65536;        // values
constexpr unsigned kNarrow = 12;             // widest delta for which a run's sum stays within 16 bits
constexpr unsigned kRaw = 255;

struct ChunkHeader {
    std::uint32_t bytes; // of the whole chunk, header included
    std::uint32_t check; // of the rest of the header and the widths
    std::uint32_t start;
    std::uint32_t reserved;
    double step;
};
static_assert(sizeof(ChunkHeader) == 24);

inline std::uint32_t chunk_check(ChunkHeader header, const unsigned char *widths, std::size_t blocks) {
    header.check = 0;
    return static_cast<std::uint32_t>(checksum(widths, blocks, checksum(&header, sizeof header, 2)));
}

// How values become integers. `limit` is the largest computed |x - x'| that proves |x - x'| <= bound in spite of its
// own rounding.
template <class T>
struct Quantiser {
    T step, inverse, limit;
};

// Largest |q| between blocks. The q of a NaN or infinity, -2^31, is too far from these for a narrow delta.
constexpr std::int32_t kFarthest = 1 << 30;

// What a kernel found out about a block.
struct Block {
    bool honours_bound; // every value, as the decoder will compute it; a wide block is looked at again
    unsigned width;     // of the widest delta; more than kNarrow, and inexact: look again with wide()
    std::uint32_t last; // q of the last value
};

constexpr unsigned width_of(std::uint32_t zigzag) { return static_cast<unsigned>(std::bit_width(zigzag)); }
constexpr std::uint32_t zigzag(std::int32_t d) {
    return (static_cast<std::uint32_t>(d) << 1) ^ static_cast<std::uint32_t>(d >> 31);
}

// Nearest integer, ties to even; INT32_MIN for what has none, as the x86 conversions do it.
template <class T>
inline std::int32_t nearest(T y) {
    constexpr double shift = 6755399441055744.0; // 1.5·2^52: adding it rounds to an integer
    const double rounded = (static_cast<double>(y) + shift) - shift;
    return rounded >= -2147483648.0 && rounded < 2147483648.0 ? static_cast<std::int32_t>(rounded)
                                                              : std::numeric_limits<std::int32_t>::min();
}

// q of 256 values.
template <class T>
inline void quantise(const unsigned char *in, const Quantiser<T> &quantiser, std::int32_t *q) {
    for (std::size_t i = 0; i < kBlock; ++i) {
        T x;
        std::memcpy(&x, in + i * sizeof x, sizeof x);
        q[i] = nearest(static_cast<T>(x * quantiser.inverse));
    }
}

inline std::int32_t difference(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}

// Writes w <= 16 bits of each of 256 deltas. Lane l holds run l; row r the r-th value of each run; a lane's 16 biased
// values follow each other from the lowest bit of w words, and word k of all lanes lies together.
inline void pack_narrow(const std::int32_t *delta, unsigned w, unsigned char *out) {
    std::uint32_t held[kRuns] = {};
    unsigned filled = 0;
    for (std::size_t row = 0; row < 16; ++row) {
        for (std::size_t lane = 0; lane < kRuns; ++lane)
            held[lane] |= static_cast<std::uint32_t>(delta[lane * 16 + row] + (1 << (w - 1))) << filled;
        filled += w;
        if (filled >= 16) {
            std::uint16_t words[kRuns];
            for (std::size_t lane = 0; lane < kRuns; ++lane) {
                words[lane] = static_cast<std::uint16_t>(held[lane]);
                held[lane] >>= 16;
            }
            std::memcpy(out, words, sizeof words);
            out += sizeof words;
            filled -= 16;
        }
    }
}

inline void unpack_narrow(const unsigned char *in, unsigned w, std::int32_t *delta) {
    const std::uint32_t mask = (1u << w) - 1;
    std::uint32_t held[kRuns] = {};
    unsigned filled = 0;
    for (std::size_t row = 0; row < 16; ++row) {
        if (filled < w) {
            std::uint16_t words[kRuns];
            std::memcpy(words, in, sizeof words);
            in += sizeof words;
            for (std::size_t lane = 0; lane < kRuns; ++lane)
                held[lane] |= static_cast<std::uint32_t>(words[lane]) << filled;
            filled += 16;
        }
        for (std::size_t lane = 0; lane < kRuns; ++lane) {
            delta[lane * 16 + row] = static_cast<std::int32_t>(held[lane] & mask) - (1 << (w - 1));
            held[lane] >>= w;
        }
        filled -= w;
    }
}

// The same with 8 lanes of 32-bit words, 32 rows, value i in lane i mod 8, two's complement.
inline void pack_wide(const std::int32_t *delta, unsigned w, unsigned char *out) {
    const std::uint32_t mask = w == 32 ? ~0u : (1u << w) - 1;
    std::uint64_t held[8] = {};
    unsigned filled = 0;
    for (std::size_t row = 0; row < 32; ++row) {
        for (std::size_t lane = 0; lane < 8; ++lane)
            held[lane] |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(delta[row * 8 + lane]) & mask)
                          << filled;
        filled += w;
        if (filled >= 32) {
            std::uint32_t words[8];
            for (std::size_t lane = 0; lane < 8; ++lane) {
                words[lane] = static_cast<std::uint32_t>(held[lane]);
                held[lane] >>= 32;
            }
            std::memcpy(out, words, sizeof words);
            out += sizeof words;
            filled -= 32;
        }
    }
}

inline void unpack_wide(const unsigned char *in, unsigned w, std::int32_t *delta) {
    const unsigned unused = 32 - w;
    std::uint64_t held[8] = {};
    unsigned filled = 0;
    for (std::size_t row = 0; row < 32; ++row) {
        if (filled < w) {
            std::uint32_t words[8];
            std::memcpy(words, in, sizeof words);
            in += sizeof words;
            for (std::size_t lane = 0; lane < 8; ++lane)
                held[lane] |= static_cast<std::uint64_t>(words[lane]) << filled;
            filled += 32;
        }
        for (std::size_t lane = 0; lane < 8; ++lane) {
            delta[row * 8 + lane] =
                static_cast<std::int32_t>(static_cast<std::uint32_t>(held[lane]) << unused) >> static_cast<int>(unused);
            held[lane] >>= w;
        }
        filled -= w;
    }
}

// A block of any width; NaN and infinities do not honour the bound.
template <class T>
inline Block wide(const unsigned char *in, const Quantiser<T> &quantiser, std::uint32_t before, std::int32_t *delta) {
    std::int32_t q[kBlock];
    quantise(in, quantiser, q);
    bool honours = true;
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
        T x;
        std::memcpy(&x, in + i * sizeof x, sizeof x);
        const T back = static_cast<T>(q[i]) * quantiser.step;
        honours &= std::abs(x - back) <= quantiser.limit;
        delta[i] = difference(q[i], i == 0 ? static_cast<std::int32_t>(before) : q[i - 1]);
        bits |= zigzag(delta[i]);
    }
    return {honours, width_of(bits), static_cast<std::uint32_t>(q[kBlock - 1])};
}

// Values from deltas; returns the last q.
template <class T>
inline std::uint32_t restore(const std::int32_t *delta, T step, std::uint32_t before, unsigned char *out, Stores how) {
    for (std::size_t i = 0; i < kBlock; ++i) {
        before += static_cast<std::uint32_t>(delta[i]);
        T x = static_cast<T>(static_cast<std::int32_t>(before)) * step;
        if (how == Stores::adding) {
            T sum;
            std::memcpy(&sum, out + i * sizeof x, sizeof x);
            x = sum + x;
        }
        std::memcpy(out + i * sizeof x, &x, sizeof x);
    }
    return before;
}

// to[i] += from[i]
template <class T>
inline void add_values(const unsigned char *from, unsigned char *to, std::size_t count) {
    for (std::size_t at = 0; at < count * sizeof(T); at += sizeof(T)) {
        T x, sum;
        std::memcpy(&x, from + at, sizeof x);
        std::memcpy(&sum, to + at, sizeof sum);
        sum = sum + x;
        std::memcpy(to + at, &sum, sizeof sum);
    }
}

constexpr std::size_t blocks_of(std::size_t count) { return count / kBlock + (count % kBlock != 0 ? 1 : 0); }
constexpr std::size_t chunks_of(std::size_t count) { return count / kChunk + (count % kChunk != 0 ? 1 : 0); }

// A chunk of `count` values whose parts were found to be whole.
struct Chunk {
    ChunkHeader header;
    const unsigned char *widths, *packed;
};

// Finds the parts of a chunk; false when it is damaged. Reads nothing beyond `available` bytes.
template <class T>
inline bool open_chunk(const unsigned char *in, std::size_t available, std::size_t count, Chunk &chunk) {
    const std::size_t blocks = blocks_of(count), last = count - (blocks - 1) * kBlock;
    std::size_t bytes = sizeof(ChunkHeader) + blocks;
    if (available < bytes) return false;
    std::memcpy(&chunk.header, in, sizeof chunk.header);
    chunk.widths = in + sizeof(ChunkHeader);
    chunk.packed = chunk.widths + blocks;
    if (chunk.header.bytes > available || chunk.header.check != chunk_check(chunk.header, chunk.widths, blocks))
        return false;
    for (std::size_t block = 0; block < blocks; ++block) {
        const unsigned width = chunk.widths[block];
        if (width > 32 && width != kRaw) return false;
        const std::size_t values = block + 1 == blocks ? last : kBlock;
        bytes += width == kRaw ? values * sizeof(T) : 32 * std::size_t{width};
    }
    return bytes == chunk.header.bytes &&
           std::abs(chunk.header.step) <= static_cast<double>(std::numeric_limits<T>::max());
}

// The portable kernel: whoever offers these functions can code the narrow blocks.
struct Portable {
    struct Scratch {
        std::int32_t delta[kBlock];
    };

    template <class T>
    static Block analyse(const unsigned char *in, const Quantiser<T> &quantiser, std::uint32_t before,
                         Scratch &scratch) {
        return wide(in, quantiser, before, scratch.delta);
    }

    static void pack(const Scratch &scratch, unsigned w, unsigned char *out) { pack_narrow(scratch.delta, w, out); }

    // `in` holds 32·w bytes, w <= kNarrow; returns the last q.
    template <class T>
    static std::uint32_t unpack(const unsigned char *in, unsigned w, T step, std::uint32_t before, unsigned char *out,
                                Stores how) {
        std::int32_t delta[kBlock] = {};
        if (w > 0) unpack_narrow(in, w, delta);
        return restore(delta, step, before, out, how);
    }

    // The sums of the deltas of two narrow blocks.
    struct Sums {
        std::int32_t delta[kBlock];
    };

    // Both widths are from 1 to kNarrow; returns the width of the widest sum.
    static unsigned add(const unsigned char *a, unsigned width_a, const unsigned char *b, unsigned width_b,
                        Sums &sums) {
        std::int32_t other[kBlock];
        unpack_narrow(a, width_a, sums.delta);
        unpack_narrow(b, width_b, other);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < kBlock; ++i) bits |= zigzag(sums.delta[i] += other[i]);
        return width_of(bits);
    }

    static void pack(const Sums &sums, unsigned w, unsigned char *out) { pack_narrow(sums.delta, w, out); }

    static void finish() {}
};

} // namespace collpress::codecs::deltapack
#endif
