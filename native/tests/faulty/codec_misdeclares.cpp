// Its usual value is outside its own limits.
#include "codec.hpp"

static constexpr collpress_codec_parameter parameters[] = {{"group", "values", nullptr, 128, 256, 4096, 1}};
static constexpr collpress_codec_extras extras = {parameters, 1, nullptr, nullptr, nullptr};

static constexpr collpress_codec codec = {7,
                                          0,
                                          1,
                                          faulty::create,
                                          faulty::destroy,
                                          faulty::max_bytes,
                                          faulty::compress,
                                          faulty::decompress,
                                          faulty::worst_error,
                                          &extras};

FAULTY_CODEC(codec, "states nonsense")
