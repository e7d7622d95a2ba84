// A codec that copies, for faulty ones to change one thing in.
#pragma once

#include "collpress/codec.h"

#include <cstring>

namespace faulty {

inline std::size_t value_bytes(const void *context) { return *static_cast<const std::size_t *>(context); }

inline void *create(const collpress_codec_config *config, collpress_codec_result *result) {
    *result = COLLPRESS_CODEC_OK;
    return new std::size_t(config->dtype == COLLPRESS_FLOAT64 ? 8 : 4);
}

inline void destroy(void *context) { delete static_cast<std::size_t *>(context); }

inline std::size_t max_bytes(const void *context, std::size_t count) { return count * value_bytes(context); }

inline collpress_codec_result compress(void *context, const void *in, std::size_t count, void *out, std::size_t,
                                       std::size_t *out_bytes) {
    *out_bytes = count * value_bytes(context);
    std::memcpy(out, in, *out_bytes);
    return COLLPRESS_CODEC_OK;
}

inline collpress_codec_result decompress(void *context, const void *in, std::size_t bytes, void *out,
                                         std::size_t count) {
    if (bytes != count * value_bytes(context)) return COLLPRESS_CODEC_BAD_STREAM;
    std::memcpy(out, in, bytes);
    return COLLPRESS_CODEC_OK;
}

inline double worst_error(const void *, double) { return 0; }

// Every dtype, no bound, lossless.
inline constexpr collpress_codec copy = {7,         0,        1,          create,      destroy,
                                         max_bytes, compress, decompress, worst_error, nullptr};

} // namespace faulty

#define FAULTY_CODEC(codec, summary)                                                                                   \
    static constexpr collpress_plugin_t plugin_ = {COLLPRESS_ABI_VERSION, COLLPRESS_CODEC, summary, &codec};           \
    extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin_; }
