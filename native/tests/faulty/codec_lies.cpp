// Loses the low half of each float and says that nothing is lost.
#include "codec.hpp"

static collpress_codec_result compress(void *context, const void *in, std::size_t count, void *out,
                                       std::size_t capacity, std::size_t *out_bytes) {
    faulty::compress(context, in, count, out, capacity, out_bytes);
    for (std::size_t i = 0; i < *out_bytes; i += 4) std::memset(static_cast<char *>(out) + i, 0, 2);
    return COLLPRESS_CODEC_OK;
}

static constexpr collpress_codec codec = {
    1,      0, 1, faulty::create, faulty::destroy, faulty::max_bytes, compress, faulty::decompress, faulty::worst_error,
    nullptr};

FAULTY_CODEC(codec, "lies about its error")
