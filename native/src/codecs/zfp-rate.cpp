// zfp-rate: zfp with a fixed number of bits for each value (zfp.hpp): equal messages have equal sizes, and the error
// follows from the data. No bound can be asked for. What is stated as the worst error is what can be said of any
// values, from how zfp codes a block of n = 4^d of them in rate · n bits:
//
//   - One bit and an exponent of 8 (float64: 11) bits come first, then bit planes of all coefficients, highest first.
//   - P planes need at most n P bits of coefficients, and n + P for finding which ones have become significant.
//   - With the leading P of a block's planes, errors are below 2^(e − P + 2 (d + 1)) where |x| < 2^e: this is the
//     rule by which zfp's fixed-accuracy mode keeps its tolerance.
//
// So P = ⌊(rate · n − 9 − n) / (n + 1)⌋ planes are there whatever the data; usual data have smaller errors by far, as
// smooth ones find few coefficients significant. What zfp promises does not hold near the smallest numbers: messages
// with those are verified.
#include "parameters.hpp"
#include "zfp.hpp"

namespace {

using namespace collpress::codecs;

constexpr collpress_codec_parameter parameters[] = {
    {"rate", "bits for each value; in one dimension of float32 (float64) at least 2.25 (3)", nullptr, 16, 1, 32, 0},
};

class FixedRate {
  public:
    static constexpr std::uint32_t magic = 0x31525a43; // "CZR1"

    explicit FixedRate(const collpress_codec_config &config) : rate_(Values(config, parameters)[0]) {}
    bool valid() const { return rate_ >= 1 && rate_ <= 32; }
    double word() const { return rate_; }
    void set(const zfp::Library &library, void *stream, std::uint32_t dtype, int dimensions) const {
        library.zfp_stream_set_rate(stream, rate_, dtype == COLLPRESS_FLOAT32 ? 3 : 4,
                                    static_cast<unsigned>(dimensions), 0);
    }

    zfp::Trust trust(const zfp::Magnitudes &found, std::uint32_t dtype, int) const {
        return found.smallest >= (dtype == COLLPRESS_FLOAT32 ? 0x1p-80 : 0x1p-900) ? zfp::Trust::full
                                                                                   : zfp::Trust::verify;
    }

    double bound(double max_abs, std::uint32_t dtype, int dimensions) const {
        if (!(max_abs > 0)) return 0;
        const bool single = dtype == COLLPRESS_FLOAT32;
        const int values = 1 << 2 * dimensions, guard = 2 * (dimensions + 1);
        const int bits = static_cast<int>(rate_ * values) - (single ? 9 : 12) - values;
        // More planes than this do not help: zfp's integers and the values themselves end there.
        const int planes = std::clamp(bits / (values + 1), 0, (single ? 18 : 46) + 4);
        return std::ldexp(1.0, std::ilogb(max_abs) + 1 - planes + guard);
    }

  private:
    double rate_;
};

constexpr collpress_codec_extras extras = only_parameters(parameters);
constexpr collpress_codec codec = zfp::Codec<FixedRate>::codec(false, &extras);
constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC,
                                    "zfp, fixed rate: a number of bits a value, errors as they come", &codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
