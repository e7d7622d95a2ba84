// int8: quantisation to 8 bits in groups that share a scale (quantise.hpp), as sums of gradients use it: a symmetric
// group costs one scale, |x - x'| <= max|x| / 254 and a little rounding.
//
// Stochastic rounding, unbiased: D. Alistarh et al.: QSGD: Communication-Efficient SGD via Gradient Quantization and
// Encoding. NIPS 2017, section 3.1.
#include "group_codec.hpp"

namespace {

constexpr collpress_plugin_t plugin{
    COLLPRESS_ABI_VERSION, COLLPRESS_CODEC, "8-bit integers in groups with a scale",
    &collpress::codecs::FloatCodec<collpress::codecs::GroupCodec<8, 0x38384943, false>>::codec}; // "CI88"

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
