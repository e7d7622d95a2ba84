// Gives zeros back and says that any error may be.
#include "codec.hpp"

#include <limits>

static collpress_codec_result zeros(void *context, const void *, std::size_t, void *out, std::size_t count) {
    std::memset(out, 0, count * faulty::value_bytes(context));
    return COLLPRESS_CODEC_OK;
}

static double worst_error(const void *, double) { return std::numeric_limits<double>::infinity(); }

static constexpr collpress_codec codec = {
    7, 0, 0, faulty::create, faulty::destroy, faulty::max_bytes, faulty::compress, zeros, worst_error, nullptr};

FAULTY_CODEC(codec, "no finite worst error")
