// The header that the streams of all our codecs begin with, and the checksum that guards it.
#ifndef COLLPRESS_CODECS_STREAM_HPP
#define COLLPRESS_CODECS_STREAM_HPP

#include "collpress/codec.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

// The decoder's arithmetic is what the encoder verified; a fused multiply-add on either side would break that.
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

namespace collpress::codecs {

static_assert(std::endian::native == std::endian::little,
              "streams are little-endian and written as they lie in memory");

// Everything that compress and decompress must agree on. `check` covers the 28 bytes before it.
struct StreamHeader {
    std::uint32_t magic;
    std::uint8_t version;
    std::uint8_t dtype;
    std::uint8_t flags; // the codec's own
    std::uint8_t reserved;
    std::uint64_t count;
    double bound;
    std::uint32_t settings; // the codec's own: what its parameters change about its streams
    std::uint32_t check;
};
static_assert(sizeof(StreamHeader) == 32);

// Continues the checksum `seed` over `bytes` bytes. Any single changed bit changes it; eight bytes a step.
inline std::uint64_t checksum(const void *data, std::size_t bytes, std::uint64_t seed) {
    const auto *p = static_cast<const unsigned char *>(data);
    std::uint64_t hash = seed ^ 0x9e3779b97f4a7c15u;
    for (; bytes > 0;) {
        std::uint64_t word = 0;
        const std::size_t n = bytes < sizeof word ? bytes : sizeof word;
        std::memcpy(&word, p, n);
        hash = (hash ^ word) * 0xd6e8feb86659fd93u;
        hash ^= hash >> 32;
        p += n;
        bytes -= n;
    }
    return hash;
}

inline std::uint32_t header_check(const StreamHeader &header) {
    return static_cast<std::uint32_t>(checksum(&header, offsetof(StreamHeader, check), 1));
}

inline void write_header(void *out, std::uint32_t magic, std::uint32_t dtype, std::uint64_t count, double bound,
                         std::uint8_t flags, std::uint32_t settings = 0) {
    StreamHeader header{magic, 1, static_cast<std::uint8_t>(dtype), flags, 0, count, bound, settings, 0};
    header.check = header_check(header);
    std::memcpy(out, &header, sizeof header);
}

// True when `in` begins with the header that write_header makes of the same arguments; `flags` receives the codec's
// flags.
inline bool read_header(const void *in, std::size_t bytes, std::uint32_t magic, std::uint32_t dtype,
                        std::uint64_t count, double bound, std::uint8_t *flags, std::uint32_t settings = 0) {
    StreamHeader header;
    if (in == nullptr || bytes < sizeof header) return false;
    std::memcpy(&header, in, sizeof header);
    *flags = header.flags;
    return header.check == header_check(header) && header.magic == magic && header.version == 1 &&
           header.dtype == dtype && header.count == count && header.settings == settings &&
           std::bit_cast<std::uint64_t>(header.bound) == std::bit_cast<std::uint64_t>(bound);
}

inline std::size_t size_of(std::uint32_t dtype) {
    switch (dtype) {
    case COLLPRESS_FLOAT64:
    case COLLPRESS_INT64:
        return 8;
    case COLLPRESS_FLOAT16:
    case COLLPRESS_BFLOAT16:
    case COLLPRESS_INT16:
        return 2;
    case COLLPRESS_INT8:
        return 1;
    default:
        return 4;
    }
}

} // namespace collpress::codecs
#endif
