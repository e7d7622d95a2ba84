// Not faulty: says what it does, which is to make the first float of each stream larger by a part of 2^-10.
#include "codec.hpp"

static collpress_codec_result decompress(void *context, const void *in, std::size_t bytes, void *out,
                                         std::size_t count) {
    const collpress_codec_result result = faulty::decompress(context, in, bytes, out, count);
    if (result == COLLPRESS_CODEC_OK && count != 0) static_cast<float *>(out)[0] *= 1 + 0x1p-10F;
    return result;
}

static double worst_error(const void *, double max_abs) { return max_abs * 0x1.1p-10; }

static constexpr collpress_codec codec = {
    1, 0, 0, faulty::create, faulty::destroy, faulty::max_bytes, faulty::compress, decompress, worst_error, nullptr};

FAULTY_CODEC(codec, "makes the first value larger")
