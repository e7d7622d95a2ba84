// Wants a group of 64, which is not usual, and its second rounding.
#include "codec.hpp"

static constexpr collpress_codec_parameter parameters[] = {
    {"group", "values that share a scale", nullptr, 128, 32, 4096, 1},
    {"rounding", "to which integer", "nearest|stochastic", 0, 0, 0, 0},
};
static constexpr collpress_codec_extras extras = {parameters, 2, nullptr, nullptr, nullptr};

static void *create(const collpress_codec_config *config, collpress_codec_result *result) {
    if (config->parameters[0] == 64 && config->parameters[1] == 1) return faulty::create(config, result);
    *result = COLLPRESS_CODEC_UNSUPPORTED;
    return nullptr;
}

static constexpr collpress_codec codec = {
    7,      0, 1, create, faulty::destroy, faulty::max_bytes, faulty::compress, faulty::decompress, faulty::worst_error,
    &extras};

FAULTY_CODEC(codec, "copies, with settings that are not usual")
