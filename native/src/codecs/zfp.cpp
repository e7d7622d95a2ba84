// zfp: Lindstrom's transform coder in fixed-accuracy mode, through libzfp; in two and three dimensions where the shape
// of the array is known (zfp.hpp, which describes the stream).
#include "zfp.hpp"

namespace {

using namespace collpress::codecs;

class FixedAccuracy {
  public:
    static constexpr std::uint32_t magic = 0x31465a43; // "CZF1"

    explicit FixedAccuracy(const collpress_codec_config &config) : bound_(config.abs_bound) {}
    bool valid() const { return bound_ > 0 && std::isfinite(bound_); }
    double word() const { return bound_; }
    void set(const zfp::Library &library, void *stream, std::uint32_t, int) const {
        library.zfp_stream_set_accuracy(stream, bound_);
    }

    // zfp keeps its accuracy only for values that are not too large beside the tolerance, and not with tolerances near
    // the smallest numbers. It aligns blocks to their largest exponent and keeps 30 (62) bits of them; with 2^6 to
    // spare for its transform and for the rounding of the result, and as many bits as each further dimension adds to
    // both, the rest is a matter of its documented guarantee.
    zfp::Trust trust(const zfp::Magnitudes &found, std::uint32_t dtype, int dimensions) const {
        const bool single = dtype == COLLPRESS_FLOAT32;
        const double smallest = single ? 0x1p-80 : 0x1p-900;
        const double room = std::ldexp(single ? 0x1p18 : 0x1p46, 2 - 2 * dimensions);
        return bound_ >= smallest && found.largest <= bound_ * room ? zfp::Trust::full : zfp::Trust::verify;
    }
    double bound(double, std::uint32_t, int) const { return bound_; }

  private:
    double bound_;
};

constexpr collpress_codec codec = zfp::Codec<FixedAccuracy>::codec(true, nullptr);
constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC,
                                    "zfp, fixed accuracy, in as many dimensions as are known", &codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
