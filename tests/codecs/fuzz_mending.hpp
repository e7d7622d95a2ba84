// Streams whose checksums are made right again, for fuzzers.
#pragma once

#include "../../native/src/codecs/deltapack_dense_codes.hpp"
#include "../../native/src/codecs/deltapack_format.hpp"

#include <algorithm>
#include <string>
#include <vector>

using Bytes = std::vector<unsigned char>;

namespace collpress::codecs {

// Checksums inside the streams of other codecs: of chunks of bytes, of szx's states, of float-ans's tables.
inline void mend_inside(Bytes &stream, const StreamHeader &header) {
    unsigned char *inside = stream.data() + sizeof header;
    const std::size_t left = stream.size() - sizeof header;
    std::uint32_t word[3] = {};
    const std::string magic(reinterpret_cast<const char *>(&header.magic), sizeof header.magic);
    if (magic == "CZS1" || magic == "CL41" || magic == "CB21") {
        if (left < 8) return;
        const auto check = static_cast<std::uint32_t>(checksum(inside, 4, sizeof header));
        std::memcpy(inside + 4, &check, sizeof check);
    } else if (magic == "SZX1") {
        if (left < 8) return;
        std::memcpy(word, inside, 4);
        const std::size_t states = word[0] == 0 ? 0 : ((header.count + word[0] - 1) / word[0] + 7) / 8;
        if (left - 8 < states) return;
        const auto check = static_cast<std::uint32_t>(checksum(inside + 8, states, word[0]));
        std::memcpy(inside + 4, &check, sizeof check);
    } else if (magic == "CFA1") {
        for (std::size_t at = 0; at + 12 <= left; at += std::max<std::size_t>(word[0], 12)) {
            std::memcpy(word, inside + at, 12);
            if (word[1] > 256 || left - at - 12 < 4 * std::size_t{word[1]}) return;
            word[2] = static_cast<std::uint32_t>(checksum(inside + at + 12, 4 * word[1], checksum(word, 8, 2)));
            std::memcpy(inside + at, word, 12);
        }
    }
}

inline void mend_deltapack(Bytes &stream, std::size_t count, std::size_t element_bytes) {
    std::size_t at = sizeof(StreamHeader);
    for (std::size_t done = 0; done < count; done += deltapack::kChunk) {
        const std::size_t values = std::min<std::size_t>(deltapack::kChunk, count - done);
        const std::size_t blocks = (values + deltapack::kBlock - 1) / deltapack::kBlock;
        deltapack::ChunkHeader chunk;
        if (stream.size() < at + sizeof chunk + blocks) return;
        std::memcpy(&chunk, &stream[at], sizeof chunk);
        const unsigned char *widths = &stream[at + sizeof chunk];
        std::size_t bytes = sizeof chunk + blocks;
        for (std::size_t block = 0; block < blocks; ++block)
            bytes += widths[block] == deltapack::kRaw
                         ? std::min(deltapack::kBlock, values - block * deltapack::kBlock) * element_bytes
                         : 32 * std::size_t{widths[block]};
        chunk.bytes = static_cast<std::uint32_t>(bytes);
        chunk.check = deltapack::chunk_check(chunk, widths, blocks);
        std::memcpy(&stream[at], &chunk, sizeof chunk);
        at += bytes;
    }
}

// Makes the lengths of codes use up all codes again, where that is possible.
inline void mend_lengths(unsigned char *bytes) {
    std::uint32_t sum = 0;
    for (std::size_t symbol = 0; symbol < dense::kSymbols; ++symbol) {
        unsigned char &pair = bytes[symbol / 2];
        unsigned length = std::min<unsigned>(pair >> 4 * (symbol % 2) & 15, dense::kLongest);
        while (length > 0 && sum + dense::share_of(length) > dense::kCodes)
            length = (length + 1) % (dense::kLongest + 1);
        if (symbol + 1 == dense::kSymbols && sum < dense::kCodes && std::has_single_bit(dense::kCodes - sum))
            length = dense::kLongest + 1 - static_cast<unsigned>(std::bit_width(dense::kCodes - sum));
        sum += dense::share_of(length);
        const unsigned shift = 4 * (symbol % 2);
        pair = static_cast<unsigned char>((pair & ~(15u << shift)) | length << shift);
    }
}

// Makes the states of all symbols fill the table at `end` again, and moves `end` behind it; false where it is cut off.
inline bool mend_states(Bytes &stream, std::size_t &end, unsigned table_bits) {
    const std::size_t mask = end;
    end += dense::kSymbols / 8;
    if (stream.size() < end) return false;
    unsigned left = 1u << (table_bits & 15);
    std::size_t last = 0;
    std::uint16_t states = 0;
    for (std::size_t symbol = 0; symbol < dense::kSymbols; ++symbol) {
        if ((stream[mask + symbol / 8] >> symbol % 8 & 1) == 0) continue;
        if (stream.size() < end + sizeof states) return false;
        std::memcpy(&states, &stream[end], sizeof states);
        left -= states;
        last = end;
        end += sizeof states;
    }
    if (last == 0) return true;
    states = static_cast<std::uint16_t>(states + left);
    std::memcpy(&stream[last], &states, sizeof states);
    return true;
}

// Tables are mended, too, and the chunk's first part has what the others leave.
inline void mend_dense(Bytes &stream, std::size_t count, std::size_t element_bytes) {
    std::size_t at = sizeof(StreamHeader);
    for (std::size_t done = 0; done < count; done += dense::kChunk) {
        const std::size_t values = std::min<std::size_t>(dense::kChunk, count - done);
        const std::size_t groups = (values + dense::kGroup - 1) / dense::kGroup;
        const std::size_t blocks = (values + dense::kBlock - 1) / dense::kBlock;
        dense::ChunkHeader chunk;
        if (stream.size() < at + sizeof chunk) return;
        std::memcpy(&chunk, &stream[at], sizeof chunk);
        const std::size_t rest = at + sizeof chunk, mask = rest + chunk.bands * sizeof(dense::Predictor);
        std::size_t checked = rest, bytes = sizeof chunk + values * element_bytes;
        if (chunk.mode != dense::Mode::raw) {
            std::size_t end = mask;
            if (chunk.mode == dense::Mode::codes) {
                end += dense::kSymbols / 2;
                if (stream.size() < end) return;
                mend_lengths(&stream[mask]);
            } else if (!mend_states(stream, end, chunk.table_bits)) {
                return;
            }
            checked = end + (chunk.raw_blocks > 0 ? (blocks + 7) / 8 : 0);
            chunk.bytes = std::min<std::uint32_t>(chunk.bytes, static_cast<std::uint32_t>(stream.size() - at));
            const std::size_t fixed = checked - at + groups * 32 * chunk.low + 4ull * chunk.escapes;
            std::size_t raw = 0;
            for (std::size_t block = 0; block < blocks && checked <= stream.size() && chunk.raw_blocks > 0; ++block)
                if (stream[end + block / 8] >> block % 8 & 1)
                    raw += std::min(dense::kBlock, values - block * dense::kBlock) * element_bytes;
            const std::size_t others = fixed + raw + chunk.parts[1] + chunk.parts[2] + std::size_t{chunk.parts[3]};
            if (others <= chunk.bytes) chunk.parts[0] = static_cast<std::uint32_t>(chunk.bytes - others);
            bytes = chunk.bytes;
        }
        if (checked > stream.size() || bytes < sizeof chunk) return;
        chunk.bytes = static_cast<std::uint32_t>(bytes);
        chunk.check = dense::chunk_check(chunk, stream.data() + rest, checked - rest);
        std::memcpy(&stream[at], &chunk, sizeof chunk);
        at += bytes;
    }
}

// Makes the checksums right again, so that damage reaches what lies behind them.
inline void mend(Bytes &stream, std::size_t element_bytes) {
    if (stream.size() < sizeof(StreamHeader)) return;
    StreamHeader header;
    std::memcpy(&header, stream.data(), sizeof header);
    header.check = header_check(header);
    std::memcpy(stream.data(), &header, sizeof header);
    constexpr std::uint64_t most = 1 << 20; // no fuzzer makes more values, and damage may claim any number
    if (header.count > most) return;
    mend_inside(stream, header);
    if (header.magic == deltapack::kMagic) mend_deltapack(stream, header.count, element_bytes);
    if (header.magic == dense::kMagic) mend_dense(stream, header.count, element_bytes);
}

} // namespace collpress::codecs
