// Cannot represent the values it is given.
#include "codec.hpp"

static collpress_codec_result refuse(void *, const void *, std::size_t, void *, std::size_t, std::size_t *) {
    return COLLPRESS_CODEC_BAD_INPUT;
}

static constexpr collpress_codec codec = {
    7,      0, 1, faulty::create, faulty::destroy, faulty::max_bytes, refuse, faulty::decompress, faulty::worst_error,
    nullptr};

FAULTY_CODEC(codec, "refuses every input")
