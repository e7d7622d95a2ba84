// Encoding a chunk of deltapack-dense.
#ifndef COLLPRESS_CODECS_DELTAPACK_DENSE_ENCODE_HPP
#define COLLPRESS_CODECS_DELTAPACK_DENSE_ENCODE_HPP

#include "deltapack_dense_chunk.hpp"

#include <numeric>

namespace collpress::codecs::dense {

using deltapack::Steps;

// Bytes from the first to the last, refused as a whole when they are more than there is room for.
class Writer {
  public:
    Writer(unsigned char *out, std::size_t capacity) : begin_(out), at_(out), left_(capacity) {}

    unsigned char *reserve(std::size_t bytes) {
        if (left_ < bytes) return nullptr;
        unsigned char *here = at_;
        at_ += bytes;
        left_ -= bytes;
        return here;
    }
    bool write(const void *data, std::size_t bytes) {
        unsigned char *to = reserve(bytes);
        if (to != nullptr && bytes > 0) std::memcpy(to, data, bytes);
        return to != nullptr;
    }
    std::size_t written() const { return static_cast<std::size_t>(at_ - begin_); }

  private:
    unsigned char *begin_, *at_;
    std::size_t left_;
};

constexpr std::size_t kTryFiner = ~std::size_t{0};

// Integers of a chunk, and which of its blocks must be raw; returns how many. Those repeat the integer before them.
// Where `finer` is given: kTryFiner when a block breaks the bound for want of a finer step.
template <class T, class Kernel>
inline std::size_t quantise(const unsigned char *in, std::size_t count, const Quantiser<T> &quantiser,
                            const Steps<T> *finer, Workspace &work) {
    std::uint32_t *q = work.q();
    std::size_t bad = 0;
    std::uint32_t before = 0;
    std::fill_n(work.raw, (blocks_of(count) + 63) / 64, 0);
    unsigned char padded[kBlock * sizeof(T)];
    for (std::size_t block = 0; block < blocks_of(count); ++block) {
        const std::size_t at = block * kBlock, values = std::min(kBlock, count - at);
        const unsigned char *from = in + at * sizeof(T);
        if (values < kBlock) {
            for (std::size_t i = 0; i < kBlock; ++i)
                std::memcpy(padded + i * sizeof(T), from + std::min(i, values - 1) * sizeof(T), sizeof(T));
            from = padded;
        }
        if (!Kernel::template quantise<T>(from, quantiser, q + at)) {
            if (finer != nullptr && finer->may_gain(from, values)) return kTryFiner;
            std::fill_n(q + at, kBlock, before);
            work.raw[block / 64] |= std::uint64_t{1} << (block % 64);
            ++bad;
        }
        before = q[at + kBlock - 1];
    }
    return bad;
}

// The middle one of some of the integers.
inline std::uint32_t typical(const std::uint32_t *q, std::size_t count) {
    constexpr std::size_t most = 255;
    std::int32_t some[most] = {};
    const std::size_t n = std::min(most, count);
    for (std::size_t i = 0; i < n; ++i) some[i] = static_cast<std::int32_t>(q[i * count / n]);
    std::nth_element(some, some + n / 2, some + n);
    return static_cast<std::uint32_t>(some[n / 2]);
}

// How many low bits are better kept apart: with more, fewer residuals escape, and tables are smaller.
inline unsigned low_bits(const std::uint64_t (&widths)[33]) {
    unsigned best = 0;
    std::uint64_t least = ~std::uint64_t{0};
    for (unsigned low = 0; low <= kMostLow; ++low) {
        std::uint64_t bits = 0;
        for (unsigned width = 0; width <= 32; ++width)
            bits += widths[width] * (width > low + 5 ? 42 : std::max(low, width) + 1);
        if (bits < least) {
            least = bits;
            best = low;
        }
    }
    return best;
}

// The symbols that have states: those from `first` to `last`, and escapes. Rare ones at the ends escape, too.
inline void keep_frequent(Counts &counts, std::size_t count, unsigned table_bits, std::uint32_t &first,
                          std::uint32_t &last) {
    // A state is worth (count >> table_bits) · log2(e) bits to the others, an escape costs some 30 bits.
    const auto rare = static_cast<std::uint32_t>((count >> table_bits) / 20);
    first = 0;
    last = kEscape - 1;
    while (first < last && counts[first] <= rare) counts[kEscape] += std::exchange(counts[first++], 0);
    while (first < last && counts[last] <= rare) counts[kEscape] += std::exchange(counts[last--], 0);
}

inline bool write_counts(Writer &to, const Counts &counts) {
    unsigned char *mask = to.reserve(kSymbols / 8);
    if (mask == nullptr) return false;
    std::fill_n(mask, kSymbols / 8, 0);
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
        if (counts[symbol] == 0) continue;
        mask[symbol / 8] = static_cast<unsigned char>(mask[symbol / 8] | 1u << (symbol % 8));
        const auto states = static_cast<std::uint16_t>(counts[symbol]);
        if (!to.write(&states, sizeof states)) return false;
    }
    return true;
}

inline bool write_lengths(Writer &to, const Lengths &lengths) {
    unsigned char bytes[kSymbols / 2];
    for (std::size_t i = 0; i < sizeof bytes; ++i)
        bytes[i] = static_cast<unsigned char>(lengths[2 * i] | lengths[2 * i + 1] << 4);
    return to.write(bytes, sizeof bytes);
}

// log2 of a count, in parts of 1/256; rounded down, and the same on every machine.
inline std::uint64_t log2_of(std::uint32_t count) {
    const auto whole = static_cast<unsigned>(std::bit_width(count)) - 1;
    std::uint64_t mantissa = (std::uint64_t{count} << 31) >> whole, fraction = 0; // from 1 to 2, times 2^31
    for (int bit = 0; bit < 8; ++bit) {
        mantissa = mantissa * mantissa >> 31;
        const std::uint64_t above = mantissa >> 32;
        mantissa >>= above;
        fraction = 2 * fraction + above;
    }
    return 256 * std::uint64_t{whole} + fraction;
}

// Whether prefix codes take at most a twentieth more bits than there is information: they are three times as fast.
inline bool codes_do(const Counts &counts, std::size_t total, const Lengths &lengths) {
    std::uint64_t information = total * log2_of(static_cast<std::uint32_t>(total)), bits = 0;
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
        if (counts[symbol] == 0) continue;
        information -= std::min(information, counts[symbol] * log2_of(counts[symbol]));
        bits += 256 * std::uint64_t{counts[symbol]} * lengths[symbol];
    }
    return bits <= information + information / 20;
}

// The coded form of a chunk whose integers are in the workspace; returns its bytes, 0 when `capacity` does not hold it.
template <class T, class Kernel>
inline std::size_t encode_coded(const unsigned char *in, std::size_t count, std::size_t raw_blocks, double step,
                                const Shape &shape, Workspace &work, unsigned char *out, std::size_t capacity) {
    std::uint32_t *q = work.q();
    ChunkHeader header{};
    header.step = step;
    header.raw_blocks = static_cast<std::uint32_t>(raw_blocks);
    header.start = typical(q, count);
    header.table_bits = static_cast<std::uint8_t>(
        std::clamp(static_cast<unsigned>(std::bit_width(count)) - 5, kLeastTable, kMostTable));
    header.bands = static_cast<std::uint8_t>(shape.bands.count);
    std::fill_n(work.integers, kBefore, header.start);

    Predictor predictors[3];
    std::uint64_t widths[33] = {};
    for (std::size_t band = 0; band < shape.bands.count; ++band) {
        const std::size_t begin = begin_of(shape.bands, band), end = shape.bands.ends[band];
        Fit<Kernel> fit(q, header.start, begin, end, shape.row, shape.plane);
        predictors[band] = fit.best(shape.bands.kinds[band]);
        fit.residual_widths(predictors[band], (end - begin) / fit.samples(), widths);
    }
    const unsigned low = low_bits(widths);
    header.low = static_cast<std::uint8_t>(low);

    Writer to(out, capacity);
    if (to.reserve(sizeof header) == nullptr) return 0;
    if (!to.write(predictors, shape.bands.count * sizeof(Predictor))) return 0;

    // Residuals, a tile at a time.
    constexpr std::size_t tile = 4096;
    alignas(32) std::uint32_t residuals[tile];
    const auto residuals_of = [&](std::size_t begin, std::size_t end, std::uint32_t *result) {
        for (std::size_t band = 0; band < shape.bands.count; ++band) {
            const std::size_t from = std::max(begin, begin_of(shape.bands, band));
            const std::size_t upto = std::min(end, shape.bands.ends[band]);
            if (from >= upto) continue;
            const Prepared prepared(predictors[band], header.start, shape.row, shape.plane,
                                    begin_of(shape.bands, band));
            Kernel::template call<subtract_prediction>(q, from, upto, predictors[band].kind, prepared,
                                                       result + (from - begin));
        }
    };
    for (std::size_t at = 0; at < count; at += tile) {
        const std::size_t n = std::min(tile, count - at);
        residuals_of(at, at + n, residuals);
        Kernel::template call<loops::symbols>(residuals, n, low, work.symbols + at);
        if (low == 0) continue;
        std::fill(residuals + n, residuals + groups_of(n) * kGroup, 0);
        for (std::size_t group = 0; group < groups_of(n); ++group)
            Kernel::template call<loops::pack_low>(residuals + group * kGroup, low,
                                                   work.low + (at / kGroup + group) * 32 * low);
    }

    // A quarter of many symbols tells enough; what it does not show has an escape or, among the others, a long code.
    const std::size_t every = count >= 1 << 16 ? 4 : 1;
    Counts counts;
    const std::size_t counted = Kernel::template call<loops::count_symbols>(work.symbols, count, every, counts);
    std::uint32_t first = 0, last = 0;
    keep_frequent(counts, counted, header.table_bits, first, last);
    const auto outside = [&](std::uint8_t symbol) { return symbol < first || symbol > last; };
    for (std::size_t at = 0; at < count; at += kBlock) {
        const std::size_t n = std::min(kBlock, count - at);
        if (n == kBlock &&
            !Kernel::template call<loops::any_outside>(work.symbols + at, static_cast<std::uint8_t>(first),
                                                       static_cast<std::uint8_t>(last - first)))
            continue;
        for (std::size_t i = at; i < at + n; ++i) {
            if (!outside(work.symbols[i])) continue;
            work.symbols[i] = kEscape;
            residuals_of(i, i + 1, work.escapes + header.escapes++);
        }
    }
    for (std::uint32_t symbol = first; symbol <= last && every > 1; ++symbol)
        counts[symbol] = std::max(counts[symbol], 1u);
    counts[kEscape] = header.escapes == 0 ? 0 : std::max(counts[kEscape], 1u);
    const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    const bool lone = std::count(counts.begin(), counts.end(), 0u) == kSymbols - 1;
    Lengths lengths{};
    if (!lone) lengths = code_lengths(counts);
    header.mode = !lone && codes_do(counts, total, lengths) ? Mode::codes : Mode::states;
    if (header.mode == Mode::states) {
        normalise(counts, total, header.table_bits);
        if (!write_counts(to, counts)) return 0;
    } else {
        header.table_bits = 0;
        if (!write_lengths(to, lengths)) return 0;
    }
    const std::size_t mask_bytes = raw_blocks == 0 ? 0 : (blocks_of(count) + 7) / 8;
    if (!to.write(work.raw, mask_bytes)) return 0;
    const std::size_t checked = to.written() - sizeof header;

    if (header.mode == Mode::codes) {
        Kernel::template call<encode_codes>(lengths, work.pairs, work.symbols, count, work.bits, header.parts);
        for (std::size_t part = 0; part < kParts; ++part)
            if (!to.write(work.bits + part * part_room(count), header.parts[part])) return 0;
    } else if (!lone) {
        build(counts, header.table_bits, work.encode);
        unsigned char *const halves[2] = {work.bits, work.bits + half_room(count / 2 + 1)};
        const auto bytes = Kernel::template call<encode_symbols>(work.encode, work.symbols, count, halves);
        for (std::size_t half = 0; half < 2; ++half) {
            if (!to.write(halves[half], bytes[half])) return 0;
            header.parts[half] = static_cast<std::uint32_t>(bytes[half]);
        }
    }
    if (!to.write(work.low, groups_of(count) * 32 * low)) return 0;
    if (!to.write(work.escapes, header.escapes * sizeof(std::uint32_t))) return 0;
    for (std::size_t block = 0; block < blocks_of(count) && raw_blocks > 0; ++block) {
        if (!work.is_raw(block)) continue;
        const std::size_t at = block * kBlock;
        if (!to.write(in + at * sizeof(T), std::min(kBlock, count - at) * sizeof(T))) return 0;
    }
    header.bytes = static_cast<std::uint32_t>(to.written());
    header.check = chunk_check(header, out + sizeof header, checked);
    std::memcpy(out, &header, sizeof header);
    return header.bytes;
}

// One chunk; returns its bytes, 0 when `capacity` does not hold it.
template <class T, class Kernel>
inline std::size_t encode_chunk(const unsigned char *in, std::size_t count, const Steps<T> &steps, const Shape &shape,
                                Workspace &work, unsigned char *out, std::size_t capacity) {
    Quantiser<T> quantiser = steps.usual();
    std::size_t bad = quantise<T, Kernel>(in, count, quantiser, &steps, work);
    if (bad == kTryFiner) {
        steps.finer(in, count, quantiser);
        bad = quantise<T, Kernel>(in, count, quantiser, nullptr, work);
    }
    const std::size_t raw = sizeof(ChunkHeader) + count * sizeof(T);
    if (bad < blocks_of(count)) {
        const std::size_t coded = encode_coded<T, Kernel>(in, count, bad, static_cast<double>(quantiser.step), shape,
                                                          work, out, std::min(capacity, raw - 1));
        if (coded != 0) return coded;
    }
    if (capacity < raw) return 0;
    ChunkHeader header{};
    header.bytes = static_cast<std::uint32_t>(raw);
    header.mode = Mode::raw;
    header.check = chunk_check(header, nullptr, 0);
    std::memcpy(out, &header, sizeof header);
    std::memcpy(out + sizeof header, in, count * sizeof(T));
    return raw;
}

} // namespace collpress::codecs::dense
#endif
