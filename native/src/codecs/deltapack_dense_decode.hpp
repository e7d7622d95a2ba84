// Decoding a chunk of deltapack-dense.
#ifndef COLLPRESS_CODECS_DELTAPACK_DENSE_DECODE_HPP
#define COLLPRESS_CODECS_DELTAPACK_DENSE_DECODE_HPP

#include "deltapack_dense_chunk.hpp"

namespace collpress::codecs::dense {

// Bytes from the first to the last, none beyond those that there are.
class Reader {
  public:
    Reader(const unsigned char *in, std::size_t bytes) : at_(in), left_(bytes) {}

    const unsigned char *take(std::size_t bytes) {
        if (left_ < bytes) return nullptr;
        const unsigned char *here = at_;
        at_ += bytes;
        left_ -= bytes;
        return here;
    }
    template <class Value>
    bool read(Value &value) {
        const unsigned char *from = take(sizeof value);
        if (from != nullptr) std::memcpy(&value, from, sizeof value);
        return from != nullptr;
    }
    std::size_t left() const { return left_; }

  private:
    const unsigned char *at_;
    std::size_t left_;
};

inline bool read_counts(Reader &from, unsigned table_bits, Counts &counts) {
    const unsigned char *mask = from.take(kSymbols / 8);
    if (mask == nullptr) return false;
    counts.fill(0);
    std::uint32_t sum = 0;
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
        if ((mask[symbol / 8] >> (symbol % 8) & 1) == 0) continue;
        std::uint16_t states = 0;
        if (!from.read(states) || states == 0) return false;
        counts[symbol] = states;
        sum += states;
    }
    return sum == 1u << table_bits;
}

// False unless the lengths are of codes that are all used up.
inline bool read_lengths(Reader &from, Lengths &lengths) {
    const unsigned char *bytes = from.take(kSymbols / 2);
    if (bytes == nullptr) return false;
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
        lengths[symbol] = static_cast<std::uint8_t>(bytes[symbol / 2] >> 4 * (symbol % 2) & 15);
        if (lengths[symbol] > kLongest) return false;
    }
    return share_of(lengths) == kCodes;
}

// The parts of a coded chunk.
struct Parts {
    Predictor predictors[3];
    Counts counts;   // of states
    Lengths lengths; // of codes
    const unsigned char *bits[kParts], *low, *escapes, *values;
};

// Finds them, and the mask of raw blocks; false where the chunk is damaged.
template <class T>
inline bool open_coded(const ChunkHeader &header, const unsigned char *rest, std::size_t count, const Shape &shape,
                       Workspace &work, Parts &parts) {
    if (header.low > kMostLow) return false;
    if (header.bands != shape.bands.count) return false;
    if (!(std::abs(header.step) <= static_cast<double>(std::numeric_limits<T>::max()))) return false;
    Reader from(rest, header.bytes - sizeof header);
    const std::size_t all = from.left(), blocks = blocks_of(count);
    for (std::size_t band = 0; band < shape.bands.count; ++band)
        if (!from.read(parts.predictors[band]) || parts.predictors[band].kind > shape.bands.kinds[band]) return false;
    if (header.mode == Mode::codes) {
        if (!read_lengths(from, parts.lengths)) return false;
    } else {
        if (header.table_bits < kLeastTable || header.table_bits > kMostTable) return false;
        if (!read_counts(from, header.table_bits, parts.counts)) return false;
    }
    std::fill_n(work.raw, (blocks + 63) / 64, 0);
    const std::size_t mask_bytes = header.raw_blocks == 0 ? 0 : (blocks + 7) / 8;
    const unsigned char *mask = from.take(mask_bytes);
    if (mask == nullptr) return false;
    std::memcpy(work.raw, mask, mask_bytes);
    if (header.check != chunk_check(header, rest, all - from.left())) return false;
    std::size_t raw_values = 0, raw_blocks = 0;
    for (std::size_t block = 0; block < blocks && header.raw_blocks > 0; ++block) {
        if (!work.is_raw(block)) continue;
        ++raw_blocks;
        raw_values += std::min(kBlock, count - block * kBlock);
    }
    if (raw_blocks != header.raw_blocks) return false;
    for (std::size_t part = 0; part < kParts; ++part) {
        parts.bits[part] = from.take(header.parts[part]);
        if (parts.bits[part] == nullptr) return false;
    }
    parts.low = from.take(groups_of(count) * 32 * header.low);
    if (parts.low == nullptr) return false;
    parts.escapes = from.take(std::size_t{header.escapes} * sizeof(std::uint32_t));
    if (parts.escapes == nullptr) return false;
    parts.values = from.take(raw_values * sizeof(T));
    return parts.values != nullptr && from.left() == 0;
}

// Symbols of a chunk, in the workspace; false where it is damaged.
template <class Kernel>
inline bool decode_parts(const ChunkHeader &header, const Parts &parts, std::size_t count, Workspace &work) {
    if (header.mode == Mode::codes) {
        build(parts.lengths, work.codes);
        return Kernel::template call<decode_codes>(work.codes, parts.bits, header.parts, work.symbols, count);
    }
    if (header.parts[2] != 0 || header.parts[3] != 0) return false;
    const auto *lone = std::find(parts.counts.begin(), parts.counts.end(), 1u << header.table_bits);
    if (lone != parts.counts.end()) {
        std::fill_n(work.symbols, count, static_cast<std::uint8_t>(lone - parts.counts.begin()));
        return header.parts[0] == 0 && header.parts[1] == 0;
    }
    build(parts.counts, header.table_bits, work.decode);
    const unsigned char *const halves[2] = {parts.bits[0], parts.bits[1]};
    return Kernel::template call<decode_symbols>(work.decode, halves, header.parts, work.symbols, count);
}

// Residuals of a chunk, in the workspace; false where it is damaged.
template <class Kernel>
inline bool decode_residuals(const ChunkHeader &header, const Parts &parts, std::size_t count, Workspace &work) {
    std::uint32_t *q = work.q();
    if (!decode_parts<Kernel>(header, parts, count, work)) return false;
    Kernel::template call<loops::residuals>(work.symbols, count, header.low, q);
    for (std::size_t group = 0; group < groups_of(count) && header.low > 0; ++group)
        Kernel::template call<loops::unpack_low>(parts.low + group * 32 * header.low, header.low, q + group * kGroup);
    std::size_t escaped = 0;
    for (std::size_t at = 0; at < count && header.escapes > 0; at += kBlock) {
        const std::size_t n = std::min(kBlock, count - at);
        if (n == kBlock && !Kernel::template call<loops::any_outside>(work.symbols + at, 0, kEscape - 1)) continue;
        for (std::size_t i = at; i < at + n; ++i) {
            if (work.symbols[i] != kEscape) continue;
            if (escaped == header.escapes) return false;
            std::memcpy(q + i, parts.escapes + escaped++ * sizeof(std::uint32_t), sizeof(std::uint32_t));
        }
    }
    return escaped == header.escapes; // where there should be none, an escape is but a residual
}

enum class Into { place, sum };

// Writes, or adds, the values [begin, end) of a chunk; `raw` points at the values of the next raw block.
template <class T, class Kernel, Into How>
inline void put_values(const Workspace &work, const std::uint32_t *q, std::size_t begin, std::size_t end, T step,
                       bool any_raw, const unsigned char *&raw, unsigned char *out) {
    const auto put = [&](std::size_t at, std::size_t n) {
        if constexpr (How == Into::sum)
            Kernel::template call<loops::add_dequantised<T>>(q + at, n, step, out + at * sizeof(T));
        else
            Kernel::template call<loops::dequantise<T>>(q + at, n, step, out + at * sizeof(T));
    };
    if (!any_raw) return put(begin, end - begin);
    for (std::size_t at = begin; at < end; at += kBlock) {
        const std::size_t n = std::min(kBlock, end - at);
        if (!work.is_raw(at / kBlock)) {
            put(at, n);
            continue;
        }
        if constexpr (How == Into::sum)
            deltapack::add_values<T>(raw, out + at * sizeof(T), n);
        else
            std::memcpy(out + at * sizeof(T), raw, n * sizeof(T));
        raw += n * sizeof(T);
    }
}

// One chunk; returns its bytes, 0 when it is damaged. Reads nothing beyond `available` bytes.
template <class T, class Kernel, Into How>
inline std::size_t decode_chunk(const unsigned char *in, std::size_t available, std::size_t count, const Shape &shape,
                                Workspace &work, unsigned char *out) {
    ChunkHeader header;
    if (available < sizeof header) return 0;
    std::memcpy(&header, in, sizeof header);
    if (header.bytes > available || header.bytes < sizeof header) return 0;
    const unsigned char *rest = in + sizeof header;
    if (header.mode == Mode::raw) {
        if (header.bytes != sizeof header + count * sizeof(T) || header.check != chunk_check(header, nullptr, 0))
            return 0;
        if constexpr (How == Into::sum)
            deltapack::add_values<T>(rest, out, count);
        else
            std::memcpy(out, rest, count * sizeof(T));
        return header.bytes;
    }
    Parts parts;
    if ((header.mode != Mode::states && header.mode != Mode::codes) ||
        !open_coded<T>(header, rest, count, shape, work, parts))
        return 0;
    if (!decode_residuals<Kernel>(header, parts, count, work)) return 0;
    std::uint32_t *q = work.q();
    std::fill_n(work.integers, kBefore, header.start);
    const unsigned char *raw = parts.values;
    std::size_t put = 0;
    for (std::size_t band = 0; band < shape.bands.count; ++band) {
        const Predictor &predictor = parts.predictors[band];
        const std::size_t begin = begin_of(shape.bands, band), end = shape.bands.ends[band];
        const Prepared prepared(predictor, header.start, shape.row, shape.plane, begin);
        // What stays in the cache between prediction and output; of whole rows, for kinds that have any.
        const std::size_t rows = kRows * std::max<std::size_t>(shape.row, 1);
        const std::size_t tile = predictor.kind >= Kind::plane ? (4096 + rows - 1) / rows * rows : 4096;
        for (std::size_t at = begin; at < end; at += tile) {
            const std::size_t upto = std::min(end, at + tile);
            Kernel::template call<add_prediction>(q, at, upto, predictor.kind, prepared);
            const std::size_t whole = upto == count ? count : upto / kBlock * kBlock;
            if (whole <= put) continue;
            put_values<T, Kernel, How>(work, q, put, whole, static_cast<T>(header.step), header.raw_blocks > 0, raw,
                                       out);
            put = whole;
        }
    }
    return header.bytes;
}

} // namespace collpress::codecs::dense
#endif
