// fp8: each value rounded to the nearest number of E4M3 (OCP 8-bit floating point, 2023: 4 exponent bits with bias 7, 4
// significant bits): |x - x'| <= 2^-4 |x| from 2^-6 to 448, 2^-10 below.
//
// The format has no infinities. Finite values beyond 448 become 448, which worst_error states; NaN and infinities
// become NaN. There is no scale: bring values into the format's range, or take a quantiser with scales.
#include "cast.hpp"

namespace {

struct E4M3 {
    using Word = std::uint8_t;
    static constexpr std::uint32_t magic = 0x38304643; // "CF08"

    [[gnu::always_inline]] static Word rounded(std::uint32_t bits) {
        const std::uint32_t sign = (bits >> 24) & 0x80u, magnitude = bits & 0x7fffffffu;
        const std::uint32_t normal = (magnitude - 0x3c000000u + 0x7ffffu + ((magnitude >> 20) & 1u)) >> 20;
        // Beside 2^14, a float has steps of 2^-9, which are those of the numbers below 2^-6: the sum is rounded to
        // them.
        const float sum = std::bit_cast<float>(magnitude) + 16384.0f;
        const std::uint32_t small = std::bit_cast<std::uint32_t>(sum) - 0x46800000u;
        const std::uint32_t finite = magnitude < 0x3c800000u ? small : std::min(normal, 0x7eu);
        return static_cast<Word>(sign | (magnitude >= 0x7f800000u ? 0x7fu : finite));
    }

    [[gnu::always_inline]] static float widened(Word word) {
        const std::uint32_t sign = (word & 0x80u) << 24u, magnitude = word & 0x7fu;
        const std::uint32_t normal = magnitude == 0x7fu ? 0x7fc00000u : (magnitude << 20) + 0x3c000000u;
        const float small = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-9f;
        const std::uint32_t bits = magnitude < 8u ? std::bit_cast<std::uint32_t>(small) : normal;
        return std::bit_cast<float>(sign | bits);
    }

    static double worst_error(double max_abs) {
        constexpr double largest = 448;
        const double rounding = collpress::codecs::half_step(std::min(max_abs, largest), 4, -6);
        return std::max(rounding, max_abs - largest);
    }
};

constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC,
                                    "cast to 8-bit floats (E4M3), rounded to nearest even, saturating at 448",
                                    &collpress::codecs::Cast<E4M3>::codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
