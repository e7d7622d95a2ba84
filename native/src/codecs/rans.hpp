// Interleaved range asymmetric numeral systems (Duda, arXiv 1311.2540; interleaving: Giesen, arXiv 1402.3392) over an
// alphabet of at most 256 symbols with a fixed table of frequencies.
//
//   stream = the decoder's kLanes states at its start, 32 bits each, then words of 16 bits in the order of reading
//
// Symbol i belongs to lane i mod kLanes; all lanes share one sequence of words. A state lies in [2^16, 2^32): before it
// codes a symbol of frequency f, a word leaves if it is at least f · 2^20, and after decoding one, a word enters if it
// is below 2^16. The encoder runs backwards from states of 2^16, so a decoder that does not end there was misled.
#ifndef COLLPRESS_CODECS_RANS_HPP
#define COLLPRESS_CODECS_RANS_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>

namespace collpress::codecs::rans {

constexpr int kScaleBits = 12;
constexpr std::uint32_t kScale = 1u << kScaleBits; // the sum of all frequencies
constexpr std::size_t kLanes = 8;
constexpr std::uint32_t kLow = 1u << 16;
constexpr std::size_t kStateBytes = kLanes * sizeof(std::uint32_t);

// Bytes that encode() may need for n symbols: each pushes at most one word.
constexpr std::size_t limit(std::size_t n) { return kStateBytes + 2 * n; }

// Frequencies of `symbols` symbols (2 to 256, all of which occur) from their counts, at least 1 each, kScale together.
inline void normalise(const std::uint32_t *counts, std::size_t symbols, std::uint16_t *frequencies) {
    const auto total = std::accumulate(counts, counts + symbols, std::uint64_t{0});
    std::uint32_t sum = 0;
    for (std::size_t s = 0; s < symbols; ++s) {
        const std::uint64_t share = (std::uint64_t{counts[s]} * kScale + total / 2) / total;
        frequencies[s] = static_cast<std::uint16_t>(std::clamp<std::uint64_t>(share, 1, kScale - 1));
        sum += frequencies[s];
    }
    // What rounding gave or took goes to and from the most frequent, which notice it least.
    while (sum != kScale) {
        auto *largest = std::max_element(frequencies, frequencies + symbols);
        const std::uint32_t take = sum > kScale ? std::min<std::uint32_t>(sum - kScale, *largest / 2u) : 0;
        const std::uint32_t give = sum < kScale ? std::min(kScale - sum, kScale - 1u - *largest) : 0;
        *largest = static_cast<std::uint16_t>(*largest - take + give);
        sum = sum - take + give;
    }
}

class Encoder {
  public:
    // Symbols and their frequencies, below kScale each.
    void set(const std::uint8_t *symbols, const std::uint16_t *frequencies, std::size_t n) {
        std::uint32_t start = 0;
        for (std::size_t s = 0; s < n; ++s) {
            entries_[symbols[s]] = {(std::uint64_t{1} << kShift) / frequencies[s] + 1, frequencies[s], start};
            start += frequencies[s];
        }
    }

    // Writes at the end of [out, out + room), room >= limit(n); returns the bytes, which begin at out + room - bytes.
    std::size_t encode(const std::uint8_t *symbols, std::size_t n, unsigned char *out, std::size_t room) const {
        unsigned char *to = out + room;
        std::array<std::uint32_t, kLanes> states;
        states.fill(kLow);
        std::size_t i = n;
        for (; i % kLanes != 0; --i) push(states[(i - 1) % kLanes], entries_[symbols[i - 1]], to);
        for (; i > 0; i -= kLanes)
            for (std::size_t lane = kLanes; lane-- > 0;) push(states[lane], entries_[symbols[i - kLanes + lane]], to);
        to -= kStateBytes;
        std::memcpy(to, states.data(), kStateBytes);
        return static_cast<std::size_t>(out + room - to);
    }

  private:
    // x / f is (x · ⌈2^44 / f⌉) >> 44 for f < 2^12 and x < f · 2^20: the product is below 2^64, and too large by less
    // than the quotient's distance to the next whole number.
    static constexpr int kShift = 44;
    struct Entry {
        std::uint64_t reciprocal;
        std::uint32_t frequency, start;
    };

    static void push(std::uint32_t &state, const Entry &entry, unsigned char *&to) {
        // Without branches, which would be mispredicted: `full` is 0 or 1, and only then counts what is written.
        const std::uint32_t full = state >= entry.frequency << (32 - kScaleBits) ? 1 : 0;
        const auto word = static_cast<std::uint16_t>(state);
        std::memcpy(to - sizeof word, &word, sizeof word);
        to -= sizeof word * full;
        const std::uint32_t x = state >> 16 * full;
        const auto quotient = static_cast<std::uint32_t>(x * entry.reciprocal >> kShift);
        state = (quotient << kScaleBits) + (x - quotient * entry.frequency) + entry.start;
    }

    std::array<Entry, 256> entries_{};
};

class Decoder {
  public:
    // As of the encoder. False: the frequencies are none (each at least 1 and below kScale, kScale together).
    bool set(const std::uint8_t *symbols, const std::uint16_t *frequencies, std::size_t n) {
        std::uint32_t start = 0;
        for (std::size_t s = 0; s < n; ++s) {
            const std::uint32_t f = frequencies[s];
            if (f == 0 || f >= kScale || start + f > kScale) return false;
            for (std::uint32_t i = 0; i < f; ++i) slots_[start + i] = symbols[s] | f << 8 | i << (8 + kScaleBits);
            start += f;
        }
        return start == kScale;
    }

    // n symbols from a stream of exactly `bytes` bytes; false: it is damaged.
    bool decode(const unsigned char *in, std::size_t bytes, std::size_t n, std::uint8_t *symbols) const {
        if (bytes < kStateBytes) return false;
        std::array<std::uint32_t, kLanes> states;
        std::memcpy(states.data(), in, kStateBytes);
        const unsigned char *from = in + kStateBytes, *end = in + bytes;
        for (const std::uint32_t state : states)
            if (state < kLow) return false;
        std::size_t i = 0;
        constexpr std::ptrdiff_t most = 2 * kLanes; // what a round of all lanes reads, and looks at
        for (; n - i >= kLanes && end - from >= most; i += kLanes)
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                std::uint32_t x = states[lane];
                symbols[i + lane] = pop(x);
                std::uint16_t word;
                std::memcpy(&word, from, sizeof word);
                const std::uint32_t low = x < kLow ? 1 : 0; // no branch, which would be mispredicted
                from += sizeof word * low;
                states[lane] = x << 16 * low | (word & -low);
            }
        for (; i < n; ++i) {
            std::uint32_t &x = states[i % kLanes];
            symbols[i] = pop(x);
            if (x >= kLow) continue;
            std::uint16_t word;
            if (end - from < static_cast<std::ptrdiff_t>(sizeof word)) return false;
            std::memcpy(&word, from, sizeof word);
            from += sizeof word;
            x = x << 16 | word;
        }
        return from == end && std::all_of(states.begin(), states.end(), [](auto state) { return state == kLow; });
    }

  private:
    std::uint8_t pop(std::uint32_t &state) const {
        const std::uint32_t slot = slots_[state & (kScale - 1)];
        state = (slot >> 8 & (kScale - 1)) * (state >> kScaleBits) + (slot >> (8 + kScaleBits));
        return static_cast<std::uint8_t>(slot);
    }

    std::array<std::uint32_t, kScale> slots_{}; // symbol, frequency, place in the symbol's range
};

} // namespace collpress::codecs::rans
#endif
