// Rounds to whole steps within its bound, and adds streams and accumulates them: no fault, but what algorithms that add
// streams are tried with. A stream is the numbers of steps.
#include "collpress/codec.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

struct Context {
    double step;
};

void *create(const collpress_codec_config *config, collpress_codec_result *result) {
    *result = COLLPRESS_CODEC_OK;
    return new Context{2 * config->abs_bound * (1 - 1.0 / 64)}; // room for the rounding of values to float
}
void destroy(void *context) { delete static_cast<Context *>(context); }
std::size_t max_bytes(const void *, std::size_t count) { return count * sizeof(std::int64_t); }

collpress_codec_result compress(void *context, const void *in, std::size_t count, void *out, std::size_t capacity,
                                std::size_t *out_bytes) {
    if (capacity < max_bytes(nullptr, count)) return COLLPRESS_CODEC_SMALL_BUFFER;
    for (std::size_t i = 0; i < count; ++i) {
        float value = 0;
        std::memcpy(&value, static_cast<const char *>(in) + i * sizeof value, sizeof value);
        const std::int64_t steps = std::llround(static_cast<double>(value) / static_cast<Context *>(context)->step);
        std::memcpy(static_cast<char *>(out) + i * sizeof steps, &steps, sizeof steps);
    }
    *out_bytes = max_bytes(nullptr, count);
    return COLLPRESS_CODEC_OK;
}

std::int64_t steps_at(const void *in, std::size_t i) {
    std::int64_t steps = 0;
    std::memcpy(&steps, static_cast<const char *>(in) + i * sizeof steps, sizeof steps);
    return steps;
}

template <bool adds>
collpress_codec_result restore(void *context, const void *in, std::size_t bytes, void *out, std::size_t count) {
    if (bytes != max_bytes(nullptr, count)) return COLLPRESS_CODEC_BAD_STREAM;
    for (std::size_t i = 0; i < count; ++i) {
        auto value = static_cast<float>(static_cast<double>(steps_at(in, i)) * static_cast<Context *>(context)->step);
        auto *place = static_cast<float *>(out) + i;
        *place = adds ? *place + value : value;
    }
    return COLLPRESS_CODEC_OK;
}

// A sum of three million steps cannot be had: that is for a test of who must say so.
collpress_codec_result add(void *, const void *a, std::size_t a_bytes, const void *b, std::size_t b_bytes,
                           std::size_t count, void *out, std::size_t capacity, std::size_t *out_bytes) {
    if (a_bytes != max_bytes(nullptr, count) || b_bytes != a_bytes) return COLLPRESS_CODEC_BAD_STREAM;
    if (capacity < a_bytes) return COLLPRESS_CODEC_SMALL_BUFFER;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t sum = steps_at(a, i) + steps_at(b, i);
        if (std::llabs(sum) > 3'000'000) return COLLPRESS_CODEC_BAD_INPUT;
        std::memcpy(static_cast<char *>(out) + i * sizeof sum, &sum, sizeof sum);
    }
    *out_bytes = a_bytes;
    return COLLPRESS_CODEC_OK;
}

double worst_error(const void *context, double) { return static_cast<const Context *>(context)->step / (2 - 1.0 / 32); }

constexpr collpress_codec_extras extras = {nullptr, 0, nullptr, add, restore<true>};
constexpr collpress_codec codec = {1, 1, 0, create, destroy, max_bytes, compress, restore<false>, worst_error, &extras};
constexpr collpress_plugin_t plugin = {COLLPRESS_ABI_VERSION, COLLPRESS_CODEC, "adds streams", &codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
