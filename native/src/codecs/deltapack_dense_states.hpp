// The entropy stage of deltapack-dense for few bits a value: tabled asymmetric numeral systems (Duda, arXiv 1311.2540),
// which spend fractions of a bit on a symbol.
//
// A table has 2^bits states, of which a symbol owns as many as it is frequent. Encoding a symbol turns one state into
// another and puts some bits out; decoding, in the opposite direction, turns it back. The symbols of a chunk are coded
// as two halves of two states each, which take turns: four chains of dependent steps keep a core busy.
#ifndef COLLPRESS_CODECS_DELTAPACK_DENSE_STATES_HPP
#define COLLPRESS_CODECS_DELTAPACK_DENSE_STATES_HPP

#include "deltapack_dense_format.hpp"

namespace collpress::codecs::dense {

#define COLLPRESS_INLINE [[gnu::always_inline]] inline

using Counts = std::array<std::uint32_t, kSymbols>;

// Scales the counts of `total` symbols, none of them more than 2^18, to a sum of 2^bits; no symbol that is there loses
// its last state.
inline void normalise(Counts &counts, std::size_t total, unsigned bits) {
    const std::uint32_t states = 1u << bits;
    std::uint32_t sum = 0;
    for (std::uint32_t &count : counts) {
        if (count == 0) continue;
        const std::uint64_t exact = (std::uint64_t{count} << bits) + total / 2;
        count = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(exact / total));
        sum += count;
    }
    while (sum != states) {
        std::uint32_t &largest = *std::max_element(counts.begin(), counts.end());
        if (sum < states) {
            largest += states - sum;
            sum = states;
        } else {
            const std::uint32_t less = std::min(sum - states, (largest + 7) / 8);
            largest -= less;
            sum -= less;
        }
    }
}

// Which symbol owns which state: a symbol's states are spread over the table.
inline void spread(const Counts &counts, unsigned bits, std::uint8_t *owners) {
    const std::uint32_t mask = (1u << bits) - 1, step = (1u << (bits - 1)) + (1u << (bits - 3)) + 3;
    std::uint32_t at = 0;
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
        for (std::uint32_t n = counts[symbol]; n > 0; --n) {
            owners[at] = static_cast<std::uint8_t>(symbol);
            at = (at + step) & mask;
        }
    }
}

struct EncodeTable {
    // (state + bits) >> 16 is how many bits a state puts out; what is left of it, plus `first`, is the index of the
    // next one.
    struct Symbol {
        std::uint32_t bits;
        std::uint32_t first; // modulo 2^32
    };
    Symbol symbols[kSymbols];
    std::uint16_t next[1u << kMostTable];
    unsigned bits;
};

inline void build(const Counts &counts, unsigned bits, EncodeTable &table) {
    std::uint8_t owners[1u << kMostTable];
    spread(counts, bits, owners);
    table.bits = bits;
    std::uint32_t starts[kSymbols], start = 0;
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
        starts[symbol] = start;
        const std::uint32_t count = counts[symbol];
        const unsigned most = count == 0 ? 0 : bits + 1 - static_cast<unsigned>(std::bit_width(count - (count > 1)));
        table.symbols[symbol] = {(most << 16) - (count << most), start - count};
        start += count;
    }
    for (std::uint32_t at = 0; at < 1u << bits; ++at)
        table.next[starts[owners[at]]++] = static_cast<std::uint16_t>((1u << bits) + at);
}

// The bits of one half, and its two states.
class BitWriter {
  public:
    BitWriter(const EncodeTable &table, unsigned char *out) : table_(table), out_(out), to_(out) {
        states_[0] = states_[1] = 1u << table.bits;
    }

    // Needs flush() after every four.
    template <unsigned State>
    COLLPRESS_INLINE void put(std::uint8_t symbol) {
        const EncodeTable::Symbol &s = table_.symbols[symbol];
        const std::uint32_t state = states_[State], width = (state + s.bits) >> 16;
        held_ |= (state & ((std::uint64_t{1} << width) - 1)) << filled_;
        filled_ += width;
        states_[State] = table_.next[(state >> width) + s.first];
    }

    // Writes eight bytes, of which some count.
    COLLPRESS_INLINE void flush() {
        std::memcpy(to_, &held_, sizeof held_);
        to_ += filled_ >> 3;
        held_ >>= filled_ & ~7u;
        filled_ &= 7;
    }

    // Bytes written.
    std::size_t finish() {
        for (const std::uint32_t state : states_) {
            held_ |= std::uint64_t{state - (1u << table_.bits)} << filled_;
            filled_ += table_.bits;
        }
        held_ |= std::uint64_t{1} << filled_++; // the decoder finds the end by it
        flush();
        if (filled_ > 0) ++to_;
        return static_cast<std::size_t>(to_ - out_);
    }

  private:
    const EncodeTable &table_;
    unsigned char *out_, *to_;
    std::uint64_t held_ = 0;
    unsigned filled_ = 0;
    std::uint32_t states_[2];
};

// Bytes that the bits of a half of `count` symbols and what is written behind them take at most.
constexpr std::size_t half_room(std::size_t count) { return count * kMostTable / 8 + 32; }

COLLPRESS_INLINE void put_four(BitWriter &to, const std::uint8_t *symbols) {
    to.put<1>(symbols[3]);
    to.put<0>(symbols[2]);
    to.put<1>(symbols[1]);
    to.put<0>(symbols[0]);
    to.flush();
}

// The last symbols, so that a multiple of four is left; returns how many.
COLLPRESS_INLINE std::size_t put_rest(BitWriter &to, const std::uint8_t *symbols, std::size_t count) {
    for (; count % 4 != 0; --count) {
        if (count % 2 == 0)
            to.put<1>(symbols[count - 1]);
        else
            to.put<0>(symbols[count - 1]);
        to.flush();
    }
    return count;
}

// The halves of `count` symbols are the first count / 2 of them, and the rest. `out` has half_room() bytes each.
// Returns the bytes of either.
COLLPRESS_INLINE std::array<std::size_t, 2> encode_symbols(const EncodeTable &table, const std::uint8_t *symbols,
                                                           std::size_t count, unsigned char *const (&out)[2]) {
    const std::size_t half = count / 2;
    const std::uint8_t *second = symbols + half;
    BitWriter a(table, out[0]), b(table, out[1]);
    std::size_t left_a = put_rest(a, symbols, half), left_b = put_rest(b, second, count - half);
    for (; left_b > left_a; left_b -= 4) put_four(b, second + left_b - 4);
    for (; left_a > 0; left_a -= 4) {
        put_four(a, symbols + left_a - 4);
        put_four(b, second + left_a - 4);
    }
    return {a.finish(), b.finish()};
}

struct DecodeTable {
    struct State {
        std::uint16_t next; // to which the bits are added
        std::uint8_t symbol, width;
    };
    State states[1u << kMostTable];
    unsigned bits;
};

inline void build(const Counts &counts, unsigned bits, DecodeTable &table) {
    std::uint8_t owners[1u << kMostTable];
    spread(counts, bits, owners);
    table.bits = bits;
    Counts seen = counts;
    for (std::uint32_t at = 0; at < 1u << bits; ++at) {
        const std::uint32_t state = seen[owners[at]]++;
        const unsigned width = bits + 1 - static_cast<unsigned>(std::bit_width(state));
        table.states[at] = {static_cast<std::uint16_t>((state << width) - (1u << bits)), owners[at],
                            static_cast<std::uint8_t>(width)};
    }
}

// Reads the bits of a half from their end. May touch 16 bytes before them.
class BitReader {
  public:
    // False where there is no end.
    bool open(const DecodeTable &table, const unsigned char *in, std::size_t bytes) {
        if (bytes == 0 || in[bytes - 1] == 0) return false;
        begin_ = in;
        at_ = in + bytes;
        at_ -= sizeof held_;
        std::memcpy(&held_, at_, sizeof held_);
        left_ = static_cast<unsigned>(std::bit_width(held_)) - 1;
        table_ = table.states;
        states_[1] = take(table.bits);
        states_[0] = take(table.bits);
        return refill();
    }

    template <unsigned State>
    COLLPRESS_INLINE std::uint8_t get() {
        const DecodeTable::State state = table_[states_[State]];
        states_[State] = state.next + take(state.width);
        return state.symbol;
    }

    // Makes room for four symbols; false where there were too few bits for those before.
    COLLPRESS_INLINE bool refill() {
        if (at_<begin_ &&static_cast<std::size_t>(begin_ - at_)> sizeof held_) return false;
        const unsigned bytes = (63 - left_) >> 3; // 56 to 63 bits are left: shifts stay below 64
        at_ -= bytes;
        left_ += 8 * bytes;
        std::memcpy(&held_, at_, sizeof held_);
        return true;
    }

    // Nothing is left over, and the states are those that the encoder began with.
    bool finished() const {
        return (at_ - begin_) * 8 + static_cast<std::ptrdiff_t>(left_) == 0 && states_[0] == 0 && states_[1] == 0;
    }

  private:
    COLLPRESS_INLINE std::uint32_t take(unsigned width) {
        left_ -= width;
        return static_cast<std::uint32_t>((held_ >> left_) & ((std::uint64_t{1} << width) - 1));
    }

    const DecodeTable::State *table_ = nullptr;
    const unsigned char *begin_ = nullptr, *at_ = nullptr;
    std::uint64_t held_ = 0;
    unsigned left_ = 0;
    std::uint32_t states_[2] = {};
};

COLLPRESS_INLINE bool get_four(BitReader &from, std::uint8_t *symbols) {
    symbols[0] = from.get<0>();
    symbols[1] = from.get<1>();
    symbols[2] = from.get<0>();
    symbols[3] = from.get<1>();
    return from.refill();
}

COLLPRESS_INLINE bool get_rest(BitReader &from, std::uint8_t *symbols, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        symbols[i] = i % 2 == 0 ? from.get<0>() : from.get<1>();
        if (!from.refill()) return false;
    }
    return true;
}

// The opposite of encode_symbols; false when the bits are damaged.
COLLPRESS_INLINE bool decode_symbols(const DecodeTable &table, const unsigned char *const (&in)[2],
                                     const std::uint32_t (&bytes)[4], std::uint8_t *symbols, std::size_t count) {
    const std::size_t half = count / 2;
    std::uint8_t *second = symbols + half;
    BitReader a, b;
    if (!a.open(table, in[0], bytes[0]) || !b.open(table, in[1], bytes[1])) return false;
    std::size_t at = 0;
    for (; at + 4 <= half; at += 4) {
        const bool good_a = get_four(a, symbols + at), good_b = get_four(b, second + at);
        if (!good_a || !good_b) return false;
    }
    return get_rest(a, symbols + at, half - at) && get_rest(b, second + at, count - half - at) && a.finished() &&
           b.finished();
}

} // namespace collpress::codecs::dense
#endif
