// deltapack-dense: our error-bounded codec, dense mode. |x - x'| <= bound for every finite value, and every NaN and
// infinity back bit by bit, in fewer bytes than deltapack and at a fraction of its speed.
//
// Values become integers as in deltapack; a chunk's integers are predicted from their neighbours in one, two or three
// dimensions (config.row and config.plane), with weights that are fitted to the chunk, and the residuals are coded with
// as many bits as their frequency is worth. With bounds as large as the differences of neighbours, fitted weights do
// what Lorenzo's predictor cannot: they average out the rounding of the neighbours.
//
// Every block is verified while it is encoded, with the decoder's own arithmetic; one that would break the bound is
// kept raw. A chunk that would not shrink is kept raw: output exceeds the input by at most 48 bytes a chunk and 32 in
// all. deltapack_dense_format.hpp describes the stream. Damage to headers and tables is detected; damage to coded
// bits, if it is not, changes values only.
#include "deltapack_dense_decode.hpp"
#include "deltapack_dense_encode.hpp"

#include <new>

namespace {

using namespace collpress::codecs;
using namespace collpress::codecs::dense;

struct Context {
    Workspace work;
    double bound;
    std::uint64_t row, plane;
    std::uint32_t dtype;
    bool vectors;
};

template <class T, class Kernel>
collpress_codec_result encode(Context &context, const void *in, std::size_t count, void *out, std::size_t capacity,
                              std::size_t *out_bytes) {
    const auto *from = static_cast<const unsigned char *>(in);
    auto *to = static_cast<unsigned char *>(out);
    const Steps<T> steps(context.bound, 1024);
    std::size_t used = sizeof(StreamHeader);
    if (capacity < used) return COLLPRESS_CODEC_SMALL_BUFFER;
    for (std::size_t at = 0; at < count; at += kChunk) {
        const std::size_t values = std::min(kChunk, count - at);
        const std::size_t bytes =
            encode_chunk<T, Kernel>(from + at * sizeof(T), values, steps, shape_of(context.row, context.plane, values),
                                    context.work, to + used, capacity - used);
        if (bytes == 0) return COLLPRESS_CODEC_SMALL_BUFFER;
        used += bytes;
    }
    write_header(out, kMagic, context.dtype, count, context.bound, 0);
    *out_bytes = used;
    return COLLPRESS_CODEC_OK;
}

template <class T, class Kernel, Into How>
collpress_codec_result decode(Context &context, const void *in, std::size_t bytes, void *out, std::size_t count) {
    std::uint8_t flags = 0;
    if (!read_header(in, bytes, kMagic, context.dtype, count, context.bound, &flags) || flags != 0)
        return COLLPRESS_CODEC_BAD_STREAM;
    const auto *from = static_cast<const unsigned char *>(in);
    auto *to = static_cast<unsigned char *>(out);
    std::size_t used = sizeof(StreamHeader);
    for (std::size_t at = 0; at < count; at += kChunk) {
        const std::size_t values = std::min(kChunk, count - at);
        const std::size_t chunk = decode_chunk<T, Kernel, How>(from + used, bytes - used, values,
                                                               shape_of(context.row, context.plane, values),
                                                               context.work, to + at * sizeof(T));
        if (chunk == 0) return COLLPRESS_CODEC_BAD_STREAM;
        used += chunk;
    }
    return used == bytes ? COLLPRESS_CODEC_OK : COLLPRESS_CODEC_BAD_STREAM;
}

void *create(const collpress_codec_config *config, collpress_codec_result *result) {
    const bool known = config->dtype == COLLPRESS_FLOAT32 || config->dtype == COLLPRESS_FLOAT64;
    if (!known || !(config->abs_bound > 0) || !std::isfinite(config->abs_bound)) {
        *result = COLLPRESS_CODEC_UNSUPPORTED;
        return nullptr;
    }
    auto *context = new (std::nothrow) Context;
    *result = context != nullptr ? COLLPRESS_CODEC_OK : COLLPRESS_CODEC_FAILED;
    if (context == nullptr) return nullptr;
    context->dtype = config->dtype;
    context->bound = config->abs_bound;
    context->row = config->row;
    context->plane = config->plane;
    context->vectors = has_avx2() && has_bmi2();
    return context;
}

void destroy(void *context) { delete static_cast<Context *>(context); }

std::size_t max_bytes(const void *context, std::size_t count) {
    return sizeof(StreamHeader) + chunks_of(count) * sizeof(ChunkHeader) +
           count * size_of(static_cast<const Context *>(context)->dtype);
}

// Calls `function` with the dtype and the kernel of this context.
template <class Function>
collpress_codec_result with_kernel(const Context &context, Function function) {
    const bool narrow = context.dtype == COLLPRESS_FLOAT32;
#if COLLPRESS_X86_KERNELS
    if (context.vectors)
        return narrow ? function.template operator()<float, Avx2>() : function.template operator()<double, Avx2>();
#endif
    return narrow ? function.template operator()<float, Portable>() : function.template operator()<double, Portable>();
}

collpress_codec_result compress(void *opaque, const void *in, std::size_t count, void *out, std::size_t capacity,
                                std::size_t *out_bytes) {
    auto &context = *static_cast<Context *>(opaque);
    return with_kernel(context, [&]<class T, class Kernel> {
        return encode<T, Kernel>(context, in, count, out, capacity, out_bytes);
    });
}

collpress_codec_result decompress(void *opaque, const void *in, std::size_t bytes, void *out, std::size_t count) {
    auto &context = *static_cast<Context *>(opaque);
    return with_kernel(
        context, [&]<class T, class Kernel> { return decode<T, Kernel, Into::place>(context, in, bytes, out, count); });
}

collpress_codec_result accumulate(void *opaque, const void *in, std::size_t bytes, void *inout, std::size_t count) {
    auto &context = *static_cast<Context *>(opaque);
    return with_kernel(
        context, [&]<class T, class Kernel> { return decode<T, Kernel, Into::sum>(context, in, bytes, inout, count); });
}

double worst_error(const void *context, double) { return static_cast<const Context *>(context)->bound; }

constexpr collpress_codec_extras extras{nullptr, 0, nullptr, nullptr, accumulate};
constexpr collpress_codec codec{
    COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT32) | COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT64),
    1,
    0,
    create,
    destroy,
    max_bytes,
    compress,
    decompress,
    worst_error,
    &extras,
};
constexpr collpress_plugin_t plugin{
    COLLPRESS_ABI_VERSION, COLLPRESS_CODEC,
    "error-bounded, dense: rounded to the bound, predicted in up to three dimensions, entropy-coded", &codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
