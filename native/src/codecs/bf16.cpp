// bf16: each value rounded to the nearest bfloat16 (8 exponent bits, 8 significant bits): |x - x'| <= 2^-8 |x|.
//
// NaN stays NaN (sign and upper payload bits kept, quiet), infinities stay. A finite value beyond the largest bfloat16
// (about 3.39e38) becomes infinite, as in every cast; worst_error says so by being infinite.
#include "cast.hpp"

#include <limits>

namespace {

struct Bfloat16 {
    using Word = std::uint16_t;
    static constexpr std::uint32_t magic = 0x36314243; // "CB16"

    [[gnu::always_inline]] static Word rounded(std::uint32_t bits) {
        const std::uint32_t nearest = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
        const std::uint32_t quiet = (bits >> 16) | 0x40u;
        return static_cast<Word>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : nearest);
    }

    [[gnu::always_inline]] static float widened(Word word) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(word) << 16);
    }

    static double worst_error(double max_abs) {
        const double largest = 0x1.fep127, overflow = largest + 0x1p119; // from which on rounding gives infinity
        if (!(max_abs < overflow)) return std::numeric_limits<double>::infinity();
        return collpress::codecs::half_step(max_abs, 8, -126);
    }
};

constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC, "cast to bfloat16, rounded to nearest even",
                                    &collpress::codecs::Cast<Bfloat16>::codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
