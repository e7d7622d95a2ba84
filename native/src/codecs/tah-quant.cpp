// tah-quant: TAH-Quant's tile-wise adaptive quantisation: asymmetric, with more bits for tiles that need them, and a
// Hadamard transform for tiles with one outlier.
//
// G. He et al.: TAH-Quant: Effective Activation Quantization in Pipeline Parallelism over Slow Network. 2025,
// arXiv:2506.01352. As there: tiles of 64 values; the fifth with the least entropy (entropy.hpp) has 3 bits, the others
// have 4; a tile whose largest magnitude (the pivot) is at least twice the second is transformed after the pivot has
// changed places with the first value; scale and smallest value in 16 bits each. Otherwise than there: entropy is
// compared between the tiles of a message, for a message may begin and end within a token; the 16 bits are bfloat16's,
// which has float32's range, rounded so that the steps still reach from the smallest value to the largest; a last,
// shorter tile is never transformed.
//
//   stream = StreamHeader, tile ...    tile = bits (1 byte; + 16: transformed), [pivot's place (1 byte),] smallest
//   value, scale
//                                      (bfloat16), codes; or 0 and the values as they are
//
// Values follow as they are where a tile has NaN, infinities or magnitudes near the ends of the range.
#include "entropy.hpp"
#include "quantise.hpp"

#include <array>
#include <numeric>

namespace {

using namespace collpress::codecs;

constexpr std::size_t kMostTile = 256;
constexpr unsigned kTransformed = 16;
constexpr float kLeastScale = 0x1p-100f;

// The next bfloat16 that is not above, or not below, a value within float's range.
template <class T>
std::uint16_t below(T value) {
    auto near = static_cast<float>(value);
    if (static_cast<T>(near) > value) near = std::nextafter(near, -std::numeric_limits<float>::infinity());
    const auto bits = std::bit_cast<std::uint32_t>(near);
    const bool away = std::signbit(near) && (bits & 0xffffu) != 0;
    return static_cast<std::uint16_t>((bits >> 16) + (away ? 1 : 0));
}
template <class T>
std::uint16_t above(T value) {
    return static_cast<std::uint16_t>(below(-value) ^ 0x8000u);
}
float widened(std::uint16_t word) { return std::bit_cast<float>(static_cast<std::uint32_t>(word) << 16); }

// Eight codes of `bits` bits are `bits` bytes. Both touch eight bytes at a time, up to seven behind the last.
[[gnu::always_inline]] inline void pack(const std::uint8_t *codes, std::size_t size, unsigned bits,
                                        unsigned char *out) {
    for (std::size_t at = 0; at < size; at += 8, out += bits) {
        std::uint64_t word = 0;
        for (unsigned i = 0; i < 8; ++i) word |= static_cast<std::uint64_t>(codes[at + i]) << (bits * i);
        std::memcpy(out, &word, sizeof word);
    }
}
[[gnu::always_inline]] inline void unpack(const unsigned char *in, std::size_t size, unsigned bits,
                                          std::uint8_t *codes) {
    const std::uint64_t mask = (1u << bits) - 1;
    for (std::size_t at = 0; at < size; at += 8, in += bits) {
        std::uint64_t word = 0;
        std::memcpy(&word, in, sizeof word);
        for (unsigned i = 0; i < 8; ++i) codes[at + i] = static_cast<std::uint8_t>(word >> (bits * i) & mask);
    }
}

struct TileHead {
    std::uint8_t kind = 0;
    std::uint8_t pivot = 0;
    std::uint16_t low = 0, scale = 0;
};

class TahQuant {
  public:
    static constexpr std::uint32_t magic = 0x48415443; // "CTAH"
    static constexpr std::array parameters{
        whole("tile", "values that share a scale, a power of two", 64, 16, 256),
        whole("low", "bits a value of tiles with little entropy", 3, 2, 8),
        whole("high", "bits a value of the others", 4, 2, 8),
        number("share", "share of the tiles that have the high number of bits", 0.8, 0, 1),
    };

    TahQuant(const Values &values, const collpress_codec_config &)
        : tile_(values.whole(0)), low_(static_cast<unsigned>(values.whole(1))),
          high_(static_cast<unsigned>(values.whole(2))), share_(values[3]) {}

    static bool allowed(const Values &values) { return std::has_single_bit(values.whole(0)); }

    std::uint32_t settings() const { return static_cast<std::uint32_t>(tile_) | low_ << 16 | high_ << 24; }

    std::size_t most(std::size_t count, std::size_t element) const {
        const std::size_t tiles = count / tile_ + (count % tile_ != 0 ? 1 : 0);
        return tiles * kMostHead + count * element;
    }

    template <class T>
    [[gnu::always_inline]] collpress_codec_result encode(const unsigned char *in, std::size_t count, Writer &writer) {
        allocate<T>(in, count);
        alignas(32) std::array<T, kMostTile> x{};
        alignas(32) std::array<std::uint8_t, kMostTile> codes{};
        alignas(32) std::array<unsigned char, kMostTile + 8> packed;
        for (std::size_t at = 0, tile = 0; at < count; at += tile_, ++tile) {
            const std::size_t values = std::min(tile_, count - at);
            const std::size_t padded = (values + 7) / 8 * 8;
            std::memcpy(x.data(), in + at * sizeof(T), values * sizeof(T));
            for (std::size_t i = values; i < padded; ++i) x[i] = x[0];
            TileHead head;
            const unsigned bits = few_bits_[tile] != 0 ? low_ : high_;
            const std::size_t raw = values * sizeof(T), coded = (values * bits + 7) / 8;
            const bool held = quantise(x, values, padded, bits, head, codes.data());
            const std::size_t heads = !held ? 1 : (head.kind & kTransformed) != 0 ? kMostHead : kMostHead - 1;
            unsigned char *out = writer.take(heads + (held ? coded : raw));
            if (out == nullptr) return COLLPRESS_CODEC_SMALL_BUFFER;
            *out++ = head.kind;
            if (!held) {
                std::memcpy(out, in + at * sizeof(T), raw);
                continue;
            }
            if ((head.kind & kTransformed) != 0) *out++ = head.pivot;
            std::memcpy(out, &head.low, sizeof head.low);
            std::memcpy(out + sizeof head.low, &head.scale, sizeof head.scale);
            for (std::size_t i = values; i < padded; ++i) codes[i] = 0;
            pack(codes.data(), padded, bits, packed.data());
            std::memcpy(out + sizeof head.low + sizeof head.scale, packed.data(), coded);
        }
        return COLLPRESS_CODEC_OK;
    }

    template <class T>
    [[gnu::always_inline]] bool decode(Reader &reader, unsigned char *out, std::size_t count) {
        alignas(32) std::array<T, kMostTile> x;
        alignas(32) std::array<std::uint8_t, kMostTile> codes{};
        alignas(32) std::array<unsigned char, kMostTile + 8> packed{};
        for (std::size_t at = 0; at < count; at += tile_) {
            const std::size_t values = std::min(tile_, count - at), padded = (values + 7) / 8 * 8;
            TileHead head;
            if (!reader.get(head.kind)) return false;
            if (head.kind == 0) {
                const unsigned char *const raw = reader.take(values * sizeof(T));
                if (raw == nullptr) return false;
                std::memcpy(out + at * sizeof(T), raw, values * sizeof(T));
                continue;
            }
            const bool transformed = (head.kind & kTransformed) != 0;
            const unsigned bits = head.kind & ~kTransformed;
            if ((bits != low_ && bits != high_) || (transformed && values != tile_)) return false;
            if (transformed && (!reader.get(head.pivot) || head.pivot >= tile_)) return false;
            if (!reader.get(head.low) || !reader.get(head.scale)) return false;
            const std::size_t coded = (values * bits + 7) / 8;
            const unsigned char *const in = reader.take(coded);
            if (in == nullptr) return false;
            std::memcpy(packed.data(), in, coded);
            unpack(packed.data(), padded, bits, codes.data());
            const T low = static_cast<T>(widened(head.low)), scale = static_cast<T>(widened(head.scale));
            for (std::size_t i = 0; i < padded; ++i) x[i] = low + static_cast<T>(codes[i]) * scale;
            if (transformed) {
                hadamard_block(x.data(), tile_);
                std::swap(x[0], x[head.pivot]);
            }
            std::memcpy(out + at * sizeof(T), x.data(), values * sizeof(T));
        }
        return true;
    }

    // A step is as large as twice the largest value / (2^bits - 1), and bfloat16 makes it larger by 1.2 % at most: by
    // 2^-8 for the smallest value, 2^-7 for the step, and what float32 rounds. A tile that is transformed has one value
    // of max_abs, and others of half of that: it becomes as large as (1 + (tile - 1)/2) / sqrt(tile) * max_abs.
    double worst_error(double max_abs, double epsilon) const {
        const double levels = (1u << std::min(low_, high_)) - 1, plain = 1.012 * max_abs / levels;
        const auto tile = static_cast<double>(tile_);
        return plain * (1 + tile) / 2 + hadamard_rounding(tile_, max_abs, epsilon);
    }

  private:
    static constexpr std::size_t kMostHead = 6;

    // Which tiles have few bits: of those with the least entropy, as many as the share leaves.
    template <class T>
    [[gnu::always_inline]] void allocate(const unsigned char *in, std::size_t count) {
        const std::size_t tiles = count / tile_ + (count % tile_ != 0 ? 1 : 0);
        entropies_.resize(tiles);
        alignas(32) std::array<T, kMostTile> x{};
        for (std::size_t tile = 0; tile < tiles; ++tile) {
            const std::size_t values = std::min(tile_, count - tile * tile_), padded = (values + 7) / 8 * 8;
            std::memcpy(x.data(), in + tile * tile_ * sizeof(T), values * sizeof(T));
            for (std::size_t i = values; i < padded; ++i) x[i] = 0;
            const T largest = largest_magnitude(x.data(), padded);
            entropies_[tile] = std::isfinite(largest) ? entropy<kMostTile>(x.data(), padded, largest) : 0;
        }
        order_.resize(tiles);
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        const auto few = static_cast<std::size_t>((1 - share_) * static_cast<double>(tiles));
        const auto middle = order_.begin() + static_cast<std::ptrdiff_t>(few);
        const auto less = [this](std::size_t a, std::size_t b) {
            return entropies_[a] != entropies_[b] ? entropies_[a] < entropies_[b] : a < b;
        };
        std::nth_element(order_.begin(), middle, order_.end(), less);
        few_bits_.assign(tiles, 0);
        for (auto tile = order_.begin(); tile != middle; ++tile) few_bits_[*tile] = 1;
    }

    // The head and the codes of a tile; false where its values must follow as they are.
    template <class T>
    [[gnu::always_inline]] bool quantise(std::array<T, kMostTile> &x, std::size_t values, std::size_t padded,
                                         unsigned bits, TileHead &head, std::uint8_t *codes) const {
        const T largest = largest_magnitude(x.data(), padded);
        // Sums of a transform stay finite, in float32, too.
        if (!(largest <= static_cast<T>(std::numeric_limits<float>::max() / (4 * kMostTile)))) return false;
        if (values == tile_) {
            const auto half = std::bit_cast<IntegerOf<T>>(largest / 2);
            IntegerOf<T> large = 0;
            for (std::size_t i = 0; i < values; ++i)
                large += (std::bit_cast<IntegerOf<T>>(x[i]) & kMagnitude<T>) > half ? 1 : 0;
            if (largest > 0 && large == 1) {
                std::size_t pivot = 0;
                while (std::abs(x[pivot]) != largest) ++pivot;
                std::swap(x[0], x[pivot]);
                hadamard_block(x.data(), tile_);
                head.kind = kTransformed;
                head.pivot = static_cast<std::uint8_t>(pivot);
            }
        }
        T least = 0, most = 0;
        extremes(x.data(), padded, least, most);
        head.low = below(least);
        const T low = static_cast<T>(widened(head.low)), levels = static_cast<T>((1u << bits) - 1);
        head.scale = above((most - low) / levels);
        const T scale = static_cast<T>(widened(head.scale));
        if (most != low && scale < static_cast<T>(kLeastScale)) {
            head.kind = 0;
            return false;
        }
        const T inverse = most != low ? 1 / scale : 0;
        for (std::size_t i = 0; i < padded; ++i) // rounds to the last code at most
            codes[i] = static_cast<std::uint8_t>(std::bit_cast<IntegerOf<T>>((x[i] - low) * inverse + kShift<T>));
        head.kind = static_cast<std::uint8_t>(head.kind | bits);
        return true;
    }

    std::size_t tile_;
    unsigned low_, high_;
    double share_;
    std::vector<float> entropies_;
    std::vector<std::size_t> order_;
    std::vector<std::uint8_t> few_bits_;
};

constexpr collpress_plugin_t plugin{
    COLLPRESS_ABI_VERSION, COLLPRESS_CODEC,
    "TAH-Quant: tiles of 3 or 4 bits by their entropy, Hadamard for those with an outlier",
    &FloatCodec<TahQuant>::codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
