// fp8: each value rounded to an 8-bit float, to nearest, ties to even. Formats: P. Micikevicius et al.: FP8 Formats for
// Deep Learning. 2022, arXiv:2209.05433: e4m3 (largest 448, no infinities, steps of 2^-9 below 2^-6) and e5m2 (largest
// 57344, infinities, steps of 2^-16 below 2^-14).
//
//   stream = StreamHeader, group ...      group = exponent (16 bits), a byte a value; 256 values, the last group
//   shorter
//
// scale group: the values of a group are first divided by the smallest power of two that brings its largest finite
// magnitude into the format's range (as OCP's microscaling formats do, with 32 values); the exponent says which. scale
// none: as they are, a plain cast; then values may be too large. overflow escape: their groups' values follow as they
// are (the exponent says so); overflow saturate: they become the largest of the format. NaN stays NaN, its sign kept;
// infinities are never lost: where the format has none (e4m3), their groups follow as they are, too.
#include "float_codec.hpp"

#include "cast.hpp"

#include <array>

namespace {

using namespace collpress::codecs;

constexpr std::size_t kGroup = 256;
constexpr std::int16_t kEscaped = 0x7fff;

// What an 8-bit format is; its magnitudes are 7-bit integers in the order of their values.
struct Format {
    int mantissa;         // bits
    int bias;             // of the exponent
    std::uint8_t largest; // finite magnitude
    std::uint8_t infinity, nan;
    double most; // value of `largest`
};
constexpr Format kE4m3{3, 7, 0x7e, 0xff, 0x7f, 448};
constexpr Format kE5m2{2, 15, 0x7b, 0x7c, 0x7e, 57344};

// Without a branch, which would keep the floating-point operations around it from being vectorised.
[[gnu::always_inline]] inline std::uint32_t either(bool which, std::uint32_t yes, std::uint32_t no) {
    const std::uint32_t mask = 0u - static_cast<std::uint32_t>(which);
    return (yes & mask) | (no & ~mask);
}

// The magnitude that is nearest to |x|; above `largest` for what is too large (0x7f at most, infinities too), 0 for
// NaN.
template <Format format>
[[gnu::always_inline]] inline std::uint32_t nearest(std::uint32_t float_bits) {
    const std::uint32_t magnitude = float_bits & 0x7fffffffu;
    const auto dropped = static_cast<std::uint32_t>(23 - format.mantissa);
    // Normal numbers: half a step less the last bit that stays is added, the rest falls off, the bias changes.
    const std::uint32_t half = (1u << (dropped - 1)) - 1 + ((magnitude >> dropped) & 1u);
    const std::uint32_t normal =
        ((magnitude + half) >> dropped) - (static_cast<std::uint32_t>(127 - format.bias) << format.mantissa);
    // Below: an addition to a number whose last bit is worth the format's step leaves the multiple in the lowest bits.
    const int step = 1 - format.bias - format.mantissa; // exponent
    const std::uint32_t anchor = static_cast<std::uint32_t>(127 + 23 + step) << 23;
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(anchor)) - anchor;
    const std::uint32_t least_normal = static_cast<std::uint32_t>(127 + 1 - format.bias) << 23;
    const std::uint32_t code = either(magnitude < least_normal, subnormal, normal);
    const std::uint32_t capped = code < 0x7f ? code : 0x7f;
    return either(magnitude > 0x7f800000u, 0, capped);
}

// The value of a byte, and exactly so.
template <Format format>
[[gnu::always_inline]] inline float widened(std::uint32_t code) {
    const std::uint32_t magnitude = code & 0x7fu;
    const auto dropped = static_cast<std::uint32_t>(23 - format.mantissa);
    const std::uint32_t normal =
        (magnitude << dropped) + (static_cast<std::uint32_t>(127 - format.bias) << 23); // the bias changes
    constexpr float step =
        std::bit_cast<float>(static_cast<std::uint32_t>(127 + 1 - format.bias - format.mantissa) << 23);
    const float subnormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * step;
    const std::uint32_t finite =
        either(magnitude >> format.mantissa != 0, normal, std::bit_cast<std::uint32_t>(subnormal));
    const std::uint32_t special = either(magnitude == format.infinity, 0x7f800000u, 0x7fc00000u);
    const std::uint32_t bits = either(magnitude > format.largest, special, finite);
    return std::bit_cast<float>(bits | (code & 0x80u) << 24);
}

// 2 to a power within the type's normal range.
template <class T>
T power(int exponent) {
    return std::ldexp(T(1), exponent);
}

class Fp8 {
  public:
    static constexpr std::uint32_t magic = 0x38504643; // "CFP8"
    static constexpr std::array parameters{
        choice("format", "bits of exponent and mantissa", "e4m3|e5m2"),
        choice("scale", "a plain cast, or 256 values share a power of two", "none|group", 1),
        choice("overflow", "too large values become the largest, or their group stays as it is", "saturate|escape", 1),
    };

    Fp8(const Values &values, const collpress_codec_config &)
        : e4m3_(values.chosen(0, 0)), scales_(values.chosen(1, 1)), escapes_(values.chosen(2, 1)) {}

    std::uint32_t settings() const { return e4m3_ ? 43 : 52; }
    std::size_t most(std::size_t count, std::size_t element) const {
        return (count / kGroup + (count % kGroup != 0 ? 1 : 0)) * sizeof kEscaped + count * element;
    }

    template <class T>
    [[gnu::always_inline]] collpress_codec_result encode(const unsigned char *in, std::size_t count, Writer &writer) {
        return e4m3_ ? encode<T, kE4m3>(in, count, writer) : encode<T, kE5m2>(in, count, writer);
    }
    template <class T>
    [[gnu::always_inline]] bool decode(Reader &reader, unsigned char *out, std::size_t count) {
        return e4m3_ ? decode<T, kE4m3>(reader, out, count) : decode<T, kE5m2>(reader, out, count);
    }

    // A plain cast: half the distance of two neighbours just below the largest value. Scaled, which is exact, the
    // largest value lies in the upper binades of the format: half the distance of neighbours is 2^-(mantissa+1) of a
    // normal number at most, and far less of the largest value below those.
    double worst_error(double max_abs, double) const {
        const Format &format = e4m3_ ? kE4m3 : kE5m2;
        if (scales_) return std::ldexp(max_abs, -1 - format.mantissa);
        const double held = half_step(std::min(max_abs, format.most), format.mantissa + 1, 1 - format.bias);
        return escapes_ ? held : std::max(held, std::nextafter(max_abs - format.most, max_abs));
    }

  private:
    template <class T, Format format>
    [[gnu::always_inline]] collpress_codec_result encode(const unsigned char *in, std::size_t count, Writer &writer) {
        for (std::size_t at = 0; at < count; at += kGroup) {
            const std::size_t values = std::min(kGroup, count - at);
            alignas(32) std::array<T, kGroup> x{};
            alignas(32) std::array<std::uint8_t, kGroup> codes;
            std::memcpy(x.data(), in + at * sizeof(T), values * sizeof(T));
            int exponent = 0;
            bool held = !scales_ || scale<T, format>(x, exponent);
            if (held) held = round<T, format>(x, codes);
            const auto stored = held ? static_cast<std::int16_t>(exponent) : kEscaped;
            const std::size_t bytes = held ? values : values * sizeof(T);
            unsigned char *const out = writer.take(sizeof stored + bytes);
            if (out == nullptr) return COLLPRESS_CODEC_SMALL_BUFFER;
            std::memcpy(out, &stored, sizeof stored);
            if (held)
                std::memcpy(out + sizeof stored, codes.data(), bytes);
            else
                std::memcpy(out + sizeof stored, in + at * sizeof(T), bytes);
        }
        return COLLPRESS_CODEC_OK;
    }

    template <class T, Format format>
    [[gnu::always_inline]] bool decode(Reader &reader, unsigned char *out, std::size_t count) {
        for (std::size_t at = 0; at < count; at += kGroup) {
            const std::size_t values = std::min(kGroup, count - at);
            std::int16_t exponent;
            if (!reader.get(exponent)) return false;
            const bool held = exponent != kEscaped;
            const unsigned char *const in = reader.take(held ? values : values * sizeof(T));
            if (in == nullptr) return false;
            if (!held) {
                std::memcpy(out + at * sizeof(T), in, values * sizeof(T));
                continue;
            }
            if (exponent < -kReach<T> || exponent > kReach<T>) return false;
            alignas(32) std::array<T, kGroup> x;
            alignas(32) std::array<std::uint8_t, kGroup> codes{};
            std::memcpy(codes.data(), in, values);
            const T factor = power<T>(exponent);
            for (std::size_t i = 0; i < kGroup; ++i) x[i] = static_cast<T>(widened<format>(codes[i])) * factor;
            std::memcpy(out + at * sizeof(T), x.data(), values * sizeof(T));
        }
        return true;
    }

    // Exponents whose powers, and their inverses, are normal numbers, and whose products with the format's smallest and
    // largest numbers are exact.
    template <class T>
    static constexpr int kReach = sizeof(T) == 4 ? 119 : 1000;

    // Divides by 2^exponent; false where the exponent is out of reach. Infinities stay.
    template <class T, Format format>
    [[gnu::always_inline]] bool scale(std::array<T, kGroup> &x, int &exponent) const {
        using Word = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
        constexpr Word infinite = std::bit_cast<Word>(std::numeric_limits<T>::infinity());
        Word bits = 0;
        for (std::size_t i = 0; i < kGroup; ++i) {
            const Word magnitude = std::bit_cast<Word>(x[i]) & std::numeric_limits<Word>::max();
            const Word finite = magnitude < infinite ? magnitude : 0;
            bits = finite > bits ? finite : bits;
        }
        if (bits == 0) return true;
        const T largest = std::bit_cast<T>(bits), most = static_cast<T>(format.most);
        if (largest > std::numeric_limits<T>::max() / 2) return false; // rounded up it might leave the type's range
        exponent = std::ilogb(largest) - std::ilogb(most);
        if (exponent < -kReach<T> || exponent >= kReach<T>) return false;
        if (largest * power<T>(-exponent) > most) ++exponent;
        const T factor = power<T>(-exponent);
        for (std::size_t i = 0; i < kGroup; ++i) x[i] *= factor;
        return true;
    }

    // False where something of the group cannot be held.
    template <class T, Format format>
    [[gnu::always_inline]] bool round(const std::array<T, kGroup> &x, std::array<std::uint8_t, kGroup> &codes) const {
        std::uint32_t lost = 0;
        const std::uint32_t infinities_lost = format.infinity > 0x7f ? 1 : 0, large_lost = escapes_ ? 1 : 0;
        for (std::size_t i = 0; i < kGroup; ++i) {
            const std::uint32_t bits = bits_of(x[i]);
            const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
            const bool is_infinite = infinite(x[i]);
            const std::uint32_t code = nearest<format>(bits);
            const bool overflows = code > format.largest;
            lost |= either(overflows, either(is_infinite, infinities_lost, large_lost), 0);
            const std::uint32_t held = either(overflows, either(is_infinite, format.infinity, format.largest), code);
            codes[i] = static_cast<std::uint8_t>(either(is_nan, format.nan, held) | (bits >> 24 & 0x80u));
        }
        return lost == 0;
    }

    template <class T>
    [[gnu::always_inline]] static bool infinite(T x) {
        using Word = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
        return (std::bit_cast<Word>(x) & std::numeric_limits<Word>::max()) ==
               std::bit_cast<Word>(std::numeric_limits<T>::infinity());
    }

    bool e4m3_, scales_, escapes_;
};

constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC,
                                    "cast to 8-bit floats, e4m3 or e5m2, with a power of two for 256 values",
                                    &FloatCodec<Fp8>::codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
