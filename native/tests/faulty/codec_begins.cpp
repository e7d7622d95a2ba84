// Takes four compressions in a call, and knows of calls only by begin(): no fault, but who forgets to call it is found.
#include "collpress/codec.h"

#include <cstring>

namespace {

struct Context {
    int left = 0;
};

void *create(const collpress_codec_config *, collpress_codec_result *result) {
    *result = COLLPRESS_CODEC_OK;
    return new Context;
}
void destroy(void *context) { delete static_cast<Context *>(context); }
void begin(void *context) { static_cast<Context *>(context)->left = 4; }
std::size_t max_bytes(const void *, std::size_t count) { return count * sizeof(float); }
collpress_codec_result compress(void *context, const void *in, std::size_t count, void *out, std::size_t,
                                std::size_t *out_bytes) {
    if (static_cast<Context *>(context)->left-- <= 0) return COLLPRESS_CODEC_FAILED;
    *out_bytes = max_bytes(nullptr, count);
    std::memcpy(out, in, *out_bytes);
    return COLLPRESS_CODEC_OK;
}
collpress_codec_result decompress(void *, const void *in, std::size_t bytes, void *out, std::size_t count) {
    if (bytes != max_bytes(nullptr, count)) return COLLPRESS_CODEC_BAD_STREAM;
    std::memcpy(out, in, bytes);
    return COLLPRESS_CODEC_OK;
}
double worst_error(const void *, double) { return 0; }

constexpr collpress_codec_extras extras = {nullptr, 0, begin, nullptr, nullptr};
constexpr collpress_codec codec = {1, 0, 1, create, destroy, max_bytes, compress, decompress, worst_error, &extras};
constexpr collpress_plugin_t plugin = {COLLPRESS_ABI_VERSION, COLLPRESS_CODEC, "four compressions a call", &codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
