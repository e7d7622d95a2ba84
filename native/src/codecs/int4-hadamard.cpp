// int4-hadamard: int4 of Hadamard-transformed blocks (hadamard.hpp), transformed back behind it. A heavy tail is spread
// over its block, so the mean error shrinks; the worst error of a single value does not: see Groups::worst_error.
//
// J. Jia et al.: SDP4Bit: Toward 4-bit Communication Quantization in Sharded Data Parallelism for LLM Training.
// NeurIPS 2024, arXiv:2410.15526, section 3.2 ("Hadamard smoother"). Blocks begin anew in each group; what a group has
// beyond whole blocks is transformed in smaller powers of two, so any group and any length will do.
#include "group_codec.hpp"

namespace {

constexpr collpress_plugin_t plugin{
    COLLPRESS_ABI_VERSION, COLLPRESS_CODEC, "4-bit integers in groups with a scale, of Hadamard-transformed blocks",
    &collpress::codecs::FloatCodec<collpress::codecs::GroupCodec<4, 0x48344943, true>>::codec}; // "CI4H"

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
