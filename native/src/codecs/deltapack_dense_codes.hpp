// The fast entropy stage of deltapack-dense: prefix codes (Huffman 1952) of at most eleven bits, two symbols at a time.
//
// The symbols of a chunk are coded as four parts, so that a decoder has four chains of dependent steps to follow. Bits
// of a part follow each other from the lowest bit of its bytes.
#ifndef COLLPRESS_CODECS_DELTAPACK_DENSE_CODES_HPP
#define COLLPRESS_CODECS_DELTAPACK_DENSE_CODES_HPP

#include "deltapack_dense_states.hpp"

namespace collpress::codecs::dense {

constexpr unsigned kLongest = 11; // bits: two pairs of codes fit a register beside what is left of a byte
constexpr std::uint32_t kCodes = 1u << kLongest;
constexpr std::size_t kPairs = kSymbols * kSymbols;

using Lengths = std::array<std::uint8_t, kSymbols>; // 0: no such symbol

// How much of all codes a symbol's takes.
constexpr std::uint32_t share_of(unsigned length) { return length == 0 ? 0 : kCodes >> length; }

inline std::uint32_t share_of(const Lengths &lengths) {
    std::uint32_t sum = 0;
    for (const unsigned length : lengths) sum += share_of(length);
    return sum;
}

// The lengths of the best code for these counts, of which at least two are not 0. All codes are used up.
inline Lengths code_lengths(const Counts &counts) {
    struct Node {
        std::uint64_t count;
        std::uint32_t parent;
    };
    std::array<std::uint8_t, kSymbols> order{};
    std::size_t leaves = 0;
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol)
        if (counts[symbol] > 0) order[leaves++] = static_cast<std::uint8_t>(symbol);
    std::stable_sort(order.begin(), order.begin() + leaves, [&](auto a, auto b) { return counts[a] < counts[b]; });
    Node nodes[2 * kSymbols] = {};
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) nodes[leaf].count = counts[order[leaf]];
    // Leaves and inner nodes are two queues, both in order of their counts.
    std::size_t leaf = 0, inner = leaves, end = leaves;
    for (; end < 2 * leaves - 1; ++end) {
        for (int child = 0; child < 2; ++child) {
            const bool takes_leaf = leaf < leaves && (inner == end || nodes[leaf].count <= nodes[inner].count);
            Node &node = nodes[takes_leaf ? leaf++ : inner++];
            node.parent = static_cast<std::uint32_t>(end);
            nodes[end].count += node.count;
        }
    }
    Lengths lengths{};
    std::uint8_t depths[2 * kSymbols] = {};
    for (std::size_t node = end - 1; node-- > 0;) {
        depths[node] = static_cast<std::uint8_t>(depths[nodes[node].parent] + 1);
        if (node < leaves) lengths[order[node]] = static_cast<std::uint8_t>(std::min<unsigned>(depths[node], kLongest));
    }
    // Cut codes take more than there is: the rarest of the others become longer, and what that frees goes to the
    // most frequent that can take it.
    std::uint32_t sum = share_of(lengths);
    for (unsigned length = kLongest - 1; sum > kCodes; --length) {
        for (std::size_t at = 0; at < leaves && sum > kCodes; ++at) {
            if (lengths[order[at]] != length) continue;
            sum -= share_of(length) - share_of(length + 1);
            ++lengths[order[at]];
        }
    }
    for (std::size_t at = leaves; sum < kCodes; at = at == 1 ? leaves : at - 1) {
        std::uint8_t &length = lengths[order[at - 1]];
        if (length < 2 || share_of(length) > kCodes - sum) continue;
        sum += share_of(length);
        --length;
    }
    return lengths;
}

// The code of each symbol, its first bit lowest; shorter codes first, and of equal lengths the smaller symbol.
inline std::array<std::uint32_t, kSymbols> codes_of(const Lengths &lengths) {
    std::array<std::uint32_t, kSymbols> codes{};
    std::uint32_t next = 0; // of kLongest bits, its first bit highest
    for (unsigned length = 1; length <= kLongest; ++length) {
        for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
            if (lengths[symbol] != length) continue;
            for (unsigned bit = 0; bit < length; ++bit) codes[symbol] |= (next >> (kLongest - 1 - bit) & 1) << bit;
            next += share_of(length);
        }
    }
    return codes;
}

struct PairCodes {
    std::uint32_t codes[kPairs]; // of symbol a, then of symbol b; the index is a + 64·b
    std::uint8_t lengths[kPairs];
};

COLLPRESS_INLINE void build_pairs(const Lengths &lengths, const std::array<std::uint32_t, kSymbols> &codes,
                                  PairCodes &pairs) {
    for (std::size_t b = 0; b < kSymbols; ++b) {
        const std::uint32_t second = codes[b];
        const std::uint8_t length = lengths[b];
        std::uint32_t *code_to = pairs.codes + kSymbols * b;
        std::uint8_t *length_to = pairs.lengths + kSymbols * b;
        for (std::size_t a = 0; a < kSymbols; ++a) {
            code_to[a] = codes[a] | second << lengths[a];
            length_to[a] = static_cast<std::uint8_t>(lengths[a] + length);
        }
    }
}

constexpr std::size_t kParts = 4;

// Values of a part.
constexpr std::size_t part_size(std::size_t count, std::size_t part) {
    const std::size_t usual = count / (8 * kParts) * 8;
    return part + 1 < kParts ? usual : count - (kParts - 1) * usual;
}

constexpr std::size_t part_room(std::size_t count) { return part_size(count, kParts - 1) * kLongest / 8 + 32; }

class CodeWriter {
  public:
    explicit CodeWriter(unsigned char *out) : out_(out), to_(out) {}

    // Needs flush() after every two.
    COLLPRESS_INLINE void put(const PairCodes &pairs, std::size_t pair) {
        held_ |= std::uint64_t{pairs.codes[pair]} << filled_;
        filled_ += pairs.lengths[pair];
    }

    COLLPRESS_INLINE void put(std::uint32_t code, unsigned length) {
        held_ |= std::uint64_t{code} << filled_;
        filled_ += length;
    }

    // Writes eight bytes, of which some count.
    COLLPRESS_INLINE void flush() {
        std::memcpy(to_, &held_, sizeof held_);
        to_ += filled_ >> 3;
        held_ >>= filled_ & ~7u;
        filled_ &= 7;
    }

    COLLPRESS_INLINE void put_eight(const PairCodes &pairs, const std::uint8_t *symbols) {
        std::uint64_t eight;
        std::memcpy(&eight, symbols, sizeof eight);
        eight = (eight & 0x003f003f003f003f) | (eight >> 2 & 0x0fc00fc00fc00fc0); // four pairs
        put(pairs, eight & 0xffff);
        put(pairs, eight >> 16 & 0xffff);
        flush();
        put(pairs, eight >> 32 & 0xffff);
        put(pairs, eight >> 48);
        flush();
    }

    // Bytes written.
    std::size_t finish() {
        flush();
        if (filled_ > 0) ++to_;
        return static_cast<std::size_t>(to_ - out_);
    }

  private:
    unsigned char *out_, *to_;
    std::uint64_t held_ = 0;
    unsigned filled_ = 0;
};

// `out` has part_room() bytes each; `bytes` gets those of each part.
COLLPRESS_INLINE void encode_codes(const Lengths &lengths, PairCodes &pairs, const std::uint8_t *symbols,
                                   std::size_t count, unsigned char *out, std::uint32_t (&bytes)[kParts]) {
    const auto codes = codes_of(lengths);
    build_pairs(lengths, codes, pairs);
    const std::size_t size = part_size(count, 0), room = part_room(count);
    for (std::size_t part = 0; part < kParts; part += 2) {
        const std::uint8_t *a = symbols + part * size, *b = a + size;
        CodeWriter to_a(out + part * room), to_b(out + (part + 1) * room);
        for (std::size_t i = 0; i < size; i += 8) {
            to_a.put_eight(pairs, a + i);
            to_b.put_eight(pairs, b + i);
        }
        for (std::size_t i = size; i < part_size(count, part + 1); ++i) {
            to_b.put(codes[b[i]], lengths[b[i]]);
            to_b.flush();
        }
        bytes[part] = static_cast<std::uint32_t>(to_a.finish());
        bytes[part + 1] = static_cast<std::uint32_t>(to_b.finish());
    }
}

// What the next eleven bits begin with: one symbol, or two.
struct CodeTable {
    struct Entry {
        std::uint8_t symbols[2];
        std::uint8_t count, length;
    };
    Entry entries[kCodes];
    Lengths lengths;
};

inline void build(const Lengths &lengths, CodeTable &table) {
    const auto codes = codes_of(lengths);
    table.lengths = lengths;
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
        const unsigned length = lengths[symbol];
        for (std::uint32_t at = codes[symbol]; length > 0 && at < kCodes; at += 1u << length)
            table.entries[at] = {{static_cast<std::uint8_t>(symbol), 0}, 1, static_cast<std::uint8_t>(length)};
    }
    for (std::uint32_t at = kCodes; at-- > 0;) { // from above: what an entry looks up has one symbol yet
        CodeTable::Entry &entry = table.entries[at];
        const CodeTable::Entry &next = table.entries[at >> entry.length];
        const unsigned both = unsigned{entry.length} + next.length;
        if (both <= kLongest) entry = {{entry.symbols[0], next.symbols[0]}, 2, static_cast<std::uint8_t>(both)};
    }
}

class CodeReader {
  public:
    CodeReader(const unsigned char *in, std::size_t bytes, std::uint8_t *out, std::size_t count)
        : at_(in), end_(in + bytes), out_(out), out_end_(out + count) {}

    // Whether get_some() may be called.
    COLLPRESS_INLINE bool plenty() const { return end_ - at_ >= 8 && out_end_ - out_ >= 2 * kLookups; }

    COLLPRESS_INLINE void get_some(const CodeTable &table) {
        std::uint64_t more;
        std::memcpy(&more, at_, sizeof more);
        held_ |= more << left_;
        at_ += (63 - left_) >> 3;
        left_ |= 56;
        for (std::ptrdiff_t n = 0; n < kLookups; ++n) {
            const CodeTable::Entry entry = table.entries[held_ % kCodes];
            std::memcpy(out_, entry.symbols, 2);
            out_ += entry.count;
            held_ >>= entry.length;
            left_ -= entry.length;
        }
    }

    // All that is left; false unless the bits end where the symbols do.
    bool finish(const CodeTable &table) {
        // Above the bits that count, get_some() left others: of bytes that are read again.
        held_ &= (std::uint64_t{1} << left_) - 1;
        while (out_ < out_end_) {
            for (; left_ <= 56 && at_ < end_; left_ += 8) held_ |= std::uint64_t{*at_++} << left_;
            const std::uint8_t symbol = table.entries[held_ % kCodes].symbols[0];
            const unsigned length = table.lengths[symbol];
            if (length > left_) return false;
            *out_++ = symbol;
            held_ >>= length;
            left_ -= length;
        }
        return (end_ - at_) * 8 + static_cast<std::ptrdiff_t>(left_) < 8 && held_ == 0;
    }

  private:
    static constexpr std::ptrdiff_t kLookups = 5; // of eleven bits out of 56

    const unsigned char *at_, *end_;
    std::uint8_t *out_, *out_end_;
    std::uint64_t held_ = 0;
    unsigned left_ = 0;
};

// The opposite of encode_codes, of lengths that use up all codes; false when the bits are damaged.
COLLPRESS_INLINE bool decode_codes(const CodeTable &table, const unsigned char *const (&in)[kParts],
                                   const std::uint32_t (&bytes)[kParts], std::uint8_t *symbols, std::size_t count) {
    const std::size_t size = part_size(count, 0);
    CodeReader a(in[0], bytes[0], symbols, size), b(in[1], bytes[1], symbols + size, size);
    CodeReader c(in[2], bytes[2], symbols + 2 * size, size);
    CodeReader d(in[3], bytes[3], symbols + 3 * size, part_size(count, 3));
    while (a.plenty() && b.plenty() && c.plenty() && d.plenty()) {
        a.get_some(table);
        b.get_some(table);
        c.get_some(table);
        d.get_some(table);
    }
    while (a.plenty()) a.get_some(table);
    while (b.plenty()) b.get_some(table);
    while (c.plenty()) c.get_some(table);
    while (d.plenty()) d.get_some(table);
    return a.finish(table) && b.finish(table) && c.finish(table) && d.finish(table);
}

} // namespace collpress::codecs::dense
#endif
