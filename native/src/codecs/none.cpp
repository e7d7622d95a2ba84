// The identity: what compression is compared with, and a check of everything around a codec. The stream is the values
// themselves.
#include "collpress/codec.h"

#include <cstring>

namespace {

struct Context {
    std::size_t element_bytes;
};

void *create(const collpress_codec_config *config, collpress_codec_result *result) {
    static constexpr Context four{4}, eight{8}; // never written: contexts of equal configuration share them
    const Context *context = nullptr;
    if (config->dtype == COLLPRESS_FLOAT32 || config->dtype == COLLPRESS_INT32)
        context = &four;
    else if (config->dtype == COLLPRESS_FLOAT64)
        context = &eight;
    *result = context != nullptr ? COLLPRESS_CODEC_OK : COLLPRESS_CODEC_UNSUPPORTED;
    return const_cast<Context *>(context);
}

void destroy(void *) {}

std::size_t max_bytes(const void *context, std::size_t count) {
    return count * static_cast<const Context *>(context)->element_bytes;
}

collpress_codec_result compress(void *context, const void *in, std::size_t count, void *out, std::size_t capacity,
                                std::size_t *out_bytes) {
    const std::size_t bytes = max_bytes(context, count);
    if (capacity < bytes) return COLLPRESS_CODEC_SMALL_BUFFER;
    if (bytes > 0) std::memcpy(out, in, bytes);
    *out_bytes = bytes;
    return COLLPRESS_CODEC_OK;
}

collpress_codec_result decompress(void *context, const void *in, std::size_t bytes, void *out, std::size_t count) {
    if (bytes != max_bytes(context, count)) return COLLPRESS_CODEC_BAD_STREAM;
    if (bytes > 0) std::memcpy(out, in, bytes);
    return COLLPRESS_CODEC_OK;
}

double worst_error(const void *, double) { return 0.0; }

constexpr collpress_codec codec{
    COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT32) | COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT64) |
        COLLPRESS_DTYPE_BIT(COLLPRESS_INT32),
    0,
    1,
    create,
    destroy,
    max_bytes,
    compress,
    decompress,
    worst_error,
    nullptr,
};
constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC, "identity: copies the values", &codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
