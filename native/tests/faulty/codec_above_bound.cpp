// Takes a bound, gives zeros back, and says that this is within its worst error.
#include "codec.hpp"

static collpress_codec_result zeros(void *context, const void *, std::size_t, void *out, std::size_t count) {
    std::memset(out, 0, count * faulty::value_bytes(context));
    return COLLPRESS_CODEC_OK;
}

static double worst_error(const void *, double) { return 1e6; }

static constexpr collpress_codec codec = {
    7, 1, 0, faulty::create, faulty::destroy, faulty::max_bytes, faulty::compress, zeros, worst_error, nullptr};

FAULTY_CODEC(codec, "states more than its bound")
