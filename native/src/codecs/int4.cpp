// int4: quantisation to 4 bits, two values a byte, in groups that share a scale (quantise.hpp): symmetric codes -7 ..
// 7, |x - x'| <= max|x| / 14 and a little rounding; asymmetric 0 .. 15.
//
// As the gradients and weights of ZeRO++ travel: G. Wang et al.: ZeRO++: Extremely Efficient Collective Communication
// for Giant Model Training. 2023, arXiv:2306.10209, sections 3.1 and 3.3. Stochastic rounding: see int8.
#include "group_codec.hpp"

namespace {

constexpr collpress_plugin_t plugin{
    COLLPRESS_ABI_VERSION, COLLPRESS_CODEC, "4-bit integers in groups with a scale",
    &collpress::codecs::FloatCodec<collpress::codecs::GroupCodec<4, 0x34344943, false>>::codec}; // "CI44"

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
