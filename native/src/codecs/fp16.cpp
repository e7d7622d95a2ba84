// fp16: each value rounded to the nearest IEEE binary16 (5 exponent bits, 11 significant bits): |x - x'| <= 2^-11 |x|
// down to 2^-14, 2^-25 below.
//
// NaN stays NaN (sign and upper payload bits kept, quiet), infinities stay. A finite value from 65520 on becomes
// infinite, as in every cast; worst_error says so by being infinite.
#include "cast.hpp"

#include <limits>

namespace {

struct Binary16 {
    using Word = std::uint16_t;
    static constexpr std::uint32_t magic = 0x36314643; // "CF16"

    [[gnu::always_inline]] static Word rounded(std::uint32_t bits) {
        const std::uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
        // The exponent's bias goes from 127 to 15; a carry into the exponent is right, up to infinity.
        const std::uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
        // Beside 1/2, a float has steps of 2^-24, which are those of the numbers below 2^-14: the sum is rounded to
        // them.
        const float sum = std::bit_cast<float>(magnitude) + 0.5f;
        const std::uint32_t small = std::bit_cast<std::uint32_t>(sum) - 0x3f000000u;
        const std::uint32_t finite = magnitude < 0x38800000u ? small : std::min(normal, 0x7c00u);
        const std::uint32_t large = magnitude >= 0x47800000u ? 0x7c00u : finite;
        const std::uint32_t quiet = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
        return static_cast<Word>(sign | (magnitude > 0x7f800000u ? quiet : large));
    }

    [[gnu::always_inline]] static float widened(Word word) {
        const std::uint32_t sign = (word & 0x8000u) << 16u, magnitude = word & 0x7fffu;
        const std::uint32_t normal = (magnitude << 13) + (magnitude >= 0x7c00u ? 0x70000000u : 0x38000000u);
        const float small = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f;
        const std::uint32_t bits = magnitude < 0x400u ? std::bit_cast<std::uint32_t>(small) : normal;
        return std::bit_cast<float>(sign | bits);
    }

    static double worst_error(double max_abs) {
        if (!(max_abs < 65520)) return std::numeric_limits<double>::infinity();
        return collpress::codecs::half_step(max_abs, 11, -14);
    }
};

constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC,
                                    "cast to IEEE binary16, rounded to nearest even",
                                    &collpress::codecs::Cast<Binary16>::codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
