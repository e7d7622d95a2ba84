// Groups of values that share a scale: what int8, int4, int4-hadamard and sdp4bit are made of.
//
//   group = scale (of the values' type), [low,] a code for each value: 8 bits, or 4: two a byte, the first in the lower
//           half; the last group is shorter
//
// symmetric:  scale = largest magnitude / L, x' = scale * code, codes -L .. L; L = 127 or 7
// asymmetric: scale = (largest - smallest) / L, x' = low + scale * code, low = smallest, codes 0 .. L; L = 255 or 15
// Codes are rounded to nearest, ties to even, or stochastically: up with a probability that is the distance from
// below, in steps of 2^-16, so that the mean error is 0 (but for these steps). Nothing is lost silently: a group that
// cannot be scaled (NaN, infinities, scales near the ends of the type's range) has NaN for a scale, and its values
// follow as they are.
#ifndef COLLPRESS_CODECS_QUANTISE_HPP
#define COLLPRESS_CODECS_QUANTISE_HPP

#include "float_codec.hpp"
#include "hadamard.hpp"
#include "random.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace collpress::codecs {

template <class T>
using IntegerOf = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
template <class T>
constexpr IntegerOf<T> kMagnitude = std::numeric_limits<IntegerOf<T>>::max(); // all bits but the sign

// Adding this rounds to an integer, ties to even, and leaves it in the lowest bits.
template <class T>
constexpr T kShift = sizeof(T) == 4 ? T(12582912.0) : T(6755399441055744.0);

// Infinite or NaN where one is. As integers, magnitudes have the same order, and infinities and NaN are the largest;
// unlike floats they vectorise.
template <class T>
[[gnu::always_inline]] inline T largest_magnitude(const T *x, std::size_t size) {
    IntegerOf<T> largest = 0;
    for (std::size_t i = 0; i < size; ++i)
        largest = std::max(largest, std::bit_cast<IntegerOf<T>>(x[i]) & kMagnitude<T>);
    return std::bit_cast<T>(largest);
}

// The smallest and the largest of one value or more; NaN is beyond the infinity of its sign.
template <class T>
[[gnu::always_inline]] inline void extremes(const T *x, std::size_t size, T &low, T &high) {
    const auto flipped = [](IntegerOf<T> word) __attribute__((always_inline)) { // to integers in order, and back
        return word ^ ((word >> (8 * sizeof word - 1)) & kMagnitude<T>);
    };
    auto least = flipped(std::bit_cast<IntegerOf<T>>(x[0])), most = least;
    for (std::size_t i = 0; i < size; ++i) {
        const auto word = flipped(std::bit_cast<IntegerOf<T>>(x[i]));
        least = std::min(least, word);
        most = std::max(most, word);
    }
    low = std::bit_cast<T>(flipped(least));
    high = std::bit_cast<T>(flipped(most));
}

// What the quantisation of a message depends on.
struct Grouping {
    std::size_t group = 128;
    bool asymmetric = false;
    bool stochastic = false;
    std::uint64_t key = 0; // rank_key()
    std::size_t block = 0; // of the Hadamard transform that comes first; 0: none
};

// Working memory of a context: a group, up to the next multiple of kLanes.
template <class T>
struct GroupBuffers {
    std::vector<T> x;
    std::vector<std::uint8_t> codes;
};
constexpr std::size_t kLanes = 32;

template <int bits>
class Groups {
  public:
    static constexpr int kSymmetric = (1 << (bits - 1)) - 1;
    static constexpr int kAsymmetric = (1 << bits) - 1;

    explicit Groups(const Grouping &grouping) : grouping_(grouping) {}

    // Bytes that `count` values never exceed.
    std::size_t most(std::size_t count, std::size_t element) const {
        const std::size_t groups = count / grouping_.group + (count % grouping_.group != 0 ? 1 : 0);
        return (groups * (grouping_.asymmetric ? 2 : 1) + count) * element;
    }

    // Of `in`, or of what it is above `base` where there is one; values that follow as they are are always those of
    // `in`.
    template <class T>
    [[gnu::always_inline]] collpress_codec_result encode(const unsigned char *in, const T *base, std::size_t count,
                                                         Writer &writer) {
        auto [x, codes] = buffers<T>();
        for (std::size_t at = 0, group = 0; at < count; at += grouping_.group, ++group) {
            const std::size_t values = std::min(grouping_.group, count - at);
            std::memcpy(x, in + at * sizeof(T), values * sizeof(T));
            for (std::size_t i = 0; base != nullptr && i < values; ++i) x[i] -= base[at + i];
            if (grouping_.block != 0) hadamard(x, values, grouping_.block);
            const std::size_t padded = (values + kLanes - 1) / kLanes * kLanes;
            for (std::size_t i = values; i < padded; ++i) x[i] = x[0];
            T scale = 0, low = 0;
            const bool scaled = grouping_.asymmetric ? lift(x, padded, group, codes, scale, low)
                                                     : level(x, padded, group, codes, scale);
            if (!scaled) {
                scale = std::numeric_limits<T>::quiet_NaN();
                unsigned char *const raw = writer.take(sizeof scale + values * sizeof(T));
                if (raw == nullptr) return COLLPRESS_CODEC_SMALL_BUFFER;
                std::memcpy(raw, &scale, sizeof scale);
                std::memcpy(raw + sizeof scale, in + at * sizeof(T), values * sizeof(T));
                continue;
            }
            const std::size_t lows = grouping_.asymmetric ? sizeof low : 0;
            unsigned char *const out = writer.take(sizeof scale + lows + packed(values));
            if (out == nullptr) return COLLPRESS_CODEC_SMALL_BUFFER;
            std::memcpy(out, &scale, sizeof scale);
            std::memcpy(out + sizeof scale, &low, lows);
            if constexpr (bits == 4) {
                if (values % 2 != 0) codes[values] = 0;
                pack(codes, padded);
            }
            std::memcpy(out + sizeof scale + lows, codes, packed(values));
        }
        return COLLPRESS_CODEC_OK;
    }

    // The inverse; false where the stream is too short.
    template <class T>
    [[gnu::always_inline]] bool decode(Reader &reader, const T *base, unsigned char *out, std::size_t count) {
        auto [x, codes] = buffers<T>();
        for (std::size_t at = 0; at < count; at += grouping_.group) {
            const std::size_t values = std::min(grouping_.group, count - at);
            T scale, low = 0;
            if (!reader.get(scale)) return false;
            if (std::isnan(scale)) {
                const unsigned char *const raw = reader.take(values * sizeof(T));
                if (raw == nullptr) return false;
                std::memcpy(out + at * sizeof(T), raw, values * sizeof(T));
                continue;
            }
            if (grouping_.asymmetric && !reader.get(low)) return false;
            const unsigned char *const in = reader.take(packed(values));
            if (in == nullptr) return false;
            const std::size_t padded = (values + kLanes - 1) / kLanes * kLanes;
            std::memcpy(codes, in, packed(values));
            if constexpr (bits == 4) unpack(codes, padded);
            if (grouping_.asymmetric)
                for (std::size_t i = 0; i < padded; ++i) x[i] = low + static_cast<T>(codes[i]) * scale;
            else
                for (std::size_t i = 0; i < padded; ++i) x[i] = static_cast<T>(signed_code(codes[i])) * scale;
            if (grouping_.block != 0) hadamard(x, values, grouping_.block);
            for (std::size_t i = 0; base != nullptr && i < values; ++i) x[i] += base[at + i];
            std::memcpy(out + at * sizeof(T), x, values * sizeof(T));
        }
        return true;
    }

    // A step is max_abs / L, or as much as 2 max_abs / L; rounding is off by half a step or, stochastically, by less
    // than a whole one. Scale, quotient, sum and product round off less than four epsilons of the largest value.
    // Transformed values are as large as sqrt(block) * max_abs; see hadamard.hpp for the way back.
    double worst_error(double max_abs, double epsilon) const {
        const double largest = grouping_.block == 0 ? max_abs : hadamard_spread(grouping_.block, max_abs);
        const double step = grouping_.asymmetric ? 2 * largest / kAsymmetric : largest / kSymmetric;
        const double error = step * (grouping_.stochastic ? 1 : 0.5) + 4 * epsilon * largest;
        if (grouping_.block == 0) return error;
        return hadamard_spread(grouping_.block, error) + hadamard_rounding(grouping_.block, max_abs, epsilon);
    }

  private:
    static constexpr std::size_t packed(std::size_t values) { return bits == 8 ? values : (values + 1) / 2; }

    template <class T>
    auto buffers() {
        auto &buffers = std::get<GroupBuffers<T>>(buffers_);
        const std::size_t size = (grouping_.group + kLanes - 1) / kLanes * kLanes;
        if (buffers.x.empty()) {
            buffers.x.resize(size);
            buffers.codes.resize(size);
        }
        return std::pair(buffers.x.data(), buffers.codes.data());
    }

    // Whether a step of this size does no harm: it has an inverse, and the largest values stay within the type's
    // range, on the way through a transform, too.
    template <class T>
    bool harmless(T scale, T largest) const {
        const T room = std::numeric_limits<T>::max() / static_cast<T>(std::max<std::size_t>(grouping_.block, 2));
        return scale >= std::numeric_limits<T>::min() && largest <= room;
    }

    template <class T>
    [[gnu::always_inline]] bool level(const T *x, std::size_t padded, std::size_t group, std::uint8_t *codes,
                                      T &scale) const {
        const T largest = largest_magnitude(x, padded);
        scale = largest / kSymmetric;
        if (largest != 0 && !harmless(scale, largest)) return false;
        round(x, padded, T(0), largest != 0 ? 1 / scale : 0, T(-kSymmetric), T(kSymmetric), group, scale, codes);
        return true;
    }

    template <class T>
    [[gnu::always_inline]] bool lift(const T *x, std::size_t padded, std::size_t group, std::uint8_t *codes, T &scale,
                                     T &low) const {
        T high = 0;
        extremes(x, padded, low, high);
        const T largest = std::max(std::abs(low), std::abs(high));
        if (!std::isfinite(low) || !std::isfinite(high)) return false;
        scale = (high - low) / kAsymmetric;
        if (high != low ? !harmless(scale, largest) : !harmless(std::numeric_limits<T>::min(), largest)) return false;
        round(x, padded, low, high != low ? 1 / scale : 0, T(0), T(kAsymmetric), group, scale, codes);
        return true;
    }

    // Codes of (x - low) * inverse, which is beyond the first and the last code by a few epsilons at most: it rounds to
    // them, but not when something random is added.
    template <class T>
    [[gnu::always_inline]] void round(const T *x, std::size_t padded, T low, T inverse, T first, T last,
                                      std::size_t group, T scale, std::uint8_t *codes) const {
        if (!grouping_.stochastic) {
            for (std::size_t i = 0; i < padded; ++i)
                codes[i] = static_cast<std::uint8_t>(std::bit_cast<IntegerOf<T>>((x[i] - low) * inverse + kShift<T>));
            return;
        }
        const std::uint32_t key =
            group_key(grouping_.key, group, std::bit_cast<std::make_unsigned_t<IntegerOf<T>>>(scale));
        for (std::size_t i = 0; i < padded; ++i) {
            T y = (x[i] - low) * inverse + noise<T>(key, i);
            y = y < last ? y : last;
            y = y > first ? y : first;
            codes[i] = static_cast<std::uint8_t>(std::bit_cast<IntegerOf<T>>(y + kShift<T>));
        }
    }

    static std::int8_t signed_code(std::uint8_t code) {
        const auto whole = static_cast<std::int8_t>(code);
        return bits == 8 ? whole : static_cast<std::int8_t>(static_cast<std::int8_t>((code & 15) ^ 8) - 8);
    }

    // Two codes become one byte, and the other way round; in place.
    [[gnu::always_inline]] static void pack(std::uint8_t *codes, std::size_t padded) {
        for (std::size_t i = 0; i < padded / 2; ++i)
            codes[i] = static_cast<std::uint8_t>((codes[2 * i] & 15) | (codes[2 * i + 1] << 4));
    }
    [[gnu::always_inline]] static void unpack(std::uint8_t *codes, std::size_t padded) {
        for (std::size_t i = padded / 2; i > 0; --i) {
            const std::uint8_t both = codes[i - 1];
            codes[2 * i - 2] = both & 15;
            codes[2 * i - 1] = both >> 4;
        }
    }

    Grouping grouping_;
    std::tuple<GroupBuffers<float>, GroupBuffers<double>> buffers_;
};

} // namespace collpress::codecs
#endif
