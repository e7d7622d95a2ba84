// deltapack: our error-bounded codec, fast mode. |x - x'| <= bound for every finite value, and every NaN and infinity
// back bit by bit.
//
// Values become integers (bins of nearly 2·bound, rounded to nearest), integers become differences of neighbours, and
// each block of 256 differences is stored with the bits that its widest one needs. Every block is verified while it is
// encoded, with the decoder's own arithmetic; one that would break the bound is stored raw. Output exceeds the input by
// at most a part in two hundred and 56 bytes. deltapack_format.hpp describes the stream. A flipped bit in headers or
// widths is detected, one in packed bits changes values only. deltapack_add.hpp says what the sum of streams is.
#include "deltapack_add.hpp"
#include "deltapack_avx2.hpp"
#include "deltapack_format.hpp"
#include "deltapack_steps.hpp"

#include <algorithm>
#include <new>

namespace {

using namespace collpress::codecs;
using namespace collpress::codecs::deltapack;

struct Context {
    std::uint32_t dtype;
    double bound;
    bool avx2;
};

bool near(std::uint32_t q) { return std::abs(static_cast<std::int64_t>(static_cast<std::int32_t>(q))) < kFarthest; }

constexpr std::size_t kTryFiner = ~std::size_t{0};

// One chunk with a given step; returns its bytes, 0 when `capacity` does not hold it, and, where `finer` is given,
// kTryFiner when a block breaks the bound for want of a finer step.
template <class T, class Kernel>
std::size_t encode_blocks(const unsigned char *in, std::size_t count, const Quantiser<T> &quantiser,
                          const Steps<T> *finer, unsigned char *out, std::size_t capacity) {
    const std::size_t blocks = blocks_of(count);
    if (capacity < sizeof(ChunkHeader) + blocks) return 0;
    unsigned char *widths = out + sizeof(ChunkHeader), *to = widths + blocks, *end = out + capacity;
    T first;
    std::memcpy(&first, in, sizeof first);
    const auto nearest_first = static_cast<std::uint32_t>(nearest(static_cast<T>(first * quantiser.inverse)));
    const std::uint32_t start = near(nearest_first) ? nearest_first : 0;
    std::uint32_t before = start;
    typename Kernel::Scratch scratch;
    std::int32_t delta[kBlock];
    unsigned char padded[kBlock * sizeof(T)];
    for (std::size_t block = 0; block < blocks; ++block) {
        const unsigned char *from = in + block * kBlock * sizeof(T), *full = from;
        const std::size_t values = std::min(kBlock, count - block * kBlock), raw = values * sizeof(T);
        if (values < kBlock) {
            std::memcpy(padded, from, raw);
            for (std::size_t at = raw; at < sizeof padded; at += sizeof(T))
                std::memcpy(padded + at, from + raw - sizeof(T), sizeof(T));
            full = padded;
        }
        Block found = Kernel::analyse(full, quantiser, before, scratch);
        if (found.width > kNarrow) found = wide(full, quantiser, before, delta);
        const bool good = found.honours_bound && near(found.last);
        if (!good && finer != nullptr && finer->may_gain(from, values)) return kTryFiner;
        const std::size_t packed = 32 * std::size_t{found.width};
        const bool escapes = !good || packed >= raw;
        if (static_cast<std::size_t>(end - to) < (escapes ? raw : packed)) return 0;
        if (escapes) {
            std::memcpy(to, from, raw);
            widths[block] = kRaw;
            to += raw;
            continue;
        }
        if (found.width > kNarrow)
            pack_wide(delta, found.width, to);
        else if (found.width > 0)
            Kernel::pack(scratch, found.width, to);
        widths[block] = static_cast<unsigned char>(found.width);
        to += packed;
        before = found.last;
    }
    ChunkHeader header{static_cast<std::uint32_t>(to - out), 0, start, 0, static_cast<double>(quantiser.step)};
    header.check = chunk_check(header, widths, blocks);
    std::memcpy(out, &header, sizeof header);
    return header.bytes;
}

// One chunk; returns its bytes, 0 when `capacity` does not hold it.
template <class T, class Kernel>
std::size_t encode_chunk(const unsigned char *in, std::size_t count, const Steps<T> &steps, unsigned char *out,
                         std::size_t capacity) {
    Quantiser<T> quantiser = steps.usual();
    const std::size_t bytes = encode_blocks<T, Kernel>(in, count, quantiser, &steps, out, capacity);
    if (bytes != kTryFiner) return bytes;
    steps.finer(in, count, quantiser);
    return encode_blocks<T, Kernel>(in, count, quantiser, nullptr, out, capacity);
}

// One chunk; returns its bytes, 0 when it is damaged. Reads nothing beyond `available` bytes.
template <class T, class Kernel>
std::size_t decode_chunk(const unsigned char *in, std::size_t available, std::size_t count, unsigned char *out,
                         Stores stores) {
    Chunk chunk;
    if (!open_chunk<T>(in, available, count, chunk)) return 0;
    const std::size_t blocks = blocks_of(count);
    const T step = static_cast<T>(chunk.header.step);
    const unsigned char *from = chunk.packed;
    std::uint32_t before = chunk.header.start;
    std::int32_t delta[kBlock];
    alignas(32) unsigned char padded[kBlock * sizeof(T)];
    for (std::size_t block = 0; block < blocks; ++block) {
        unsigned char *to = out + block * kBlock * sizeof(T);
        const std::size_t values = std::min(kBlock, count - block * kBlock), raw = values * sizeof(T);
        const unsigned width = chunk.widths[block];
        const auto put = [&](const unsigned char *whole) {
            if (stores == Stores::adding)
                add_values<T>(whole, to, values);
            else
                std::memcpy(to, whole, raw);
        };
        if (width == kRaw) {
            put(from);
            from += raw;
            continue;
        }
        const bool partial = values < kBlock;
        unsigned char *full = partial ? padded : to;
        const Stores how = partial ? Stores::cached : stores;
        if (width > kNarrow) {
            unpack_wide(from, width, delta);
            before = restore(delta, step, before, full, how);
        } else {
            before = Kernel::unpack(from, width, step, before, full, how);
        }
        if (partial) put(padded);
        from += 32 * std::size_t{width};
    }
    return chunk.header.bytes;
}

template <class T, class Kernel>
collpress_codec_result encode(const Context &context, const void *in, std::size_t count, void *out,
                              std::size_t capacity, std::size_t *out_bytes) {
    const auto *from = static_cast<const unsigned char *>(in);
    auto *to = static_cast<unsigned char *>(out);
    const Steps<T> steps(context.bound,
                         128); // costs 0.011 bits a value; few streams need finer steps, and those of one step add
    std::size_t used = sizeof(StreamHeader);
    if (capacity < used) return COLLPRESS_CODEC_SMALL_BUFFER;
    for (std::size_t at = 0; at < count; at += kChunk) {
        const std::size_t bytes = encode_chunk<T, Kernel>(from + at * sizeof(T), std::min(kChunk, count - at), steps,
                                                          to + used, capacity - used);
        if (bytes == 0) return COLLPRESS_CODEC_SMALL_BUFFER;
        used += bytes;
    }
    write_header(out, kMagic, context.dtype, count, context.bound, 0);
    *out_bytes = used;
    return COLLPRESS_CODEC_OK;
}

enum class Into { place, sum };

template <class T, class Kernel, Into How>
collpress_codec_result decode(const Context &context, const void *in, std::size_t bytes, void *out, std::size_t count) {
    std::uint8_t flags = 0;
    if (!read_header(in, bytes, kMagic, context.dtype, count, context.bound, &flags) || flags != 0)
        return COLLPRESS_CODEC_BAD_STREAM;
    const auto *from = static_cast<const unsigned char *>(in);
    auto *to = static_cast<unsigned char *>(out);
    StoreTrial trial(chunks_of(count), count * sizeof(T));
    std::size_t used = sizeof(StreamHeader);
    bool good = true;
    for (std::size_t at = 0; at < count && good; at += kChunk) {
        trial.begin();
        const std::size_t chunk =
            decode_chunk<T, Kernel>(from + used, bytes - used, std::min(kChunk, count - at), to + at * sizeof(T),
                                    How == Into::sum ? Stores::adding : trial.stores());
        trial.end();
        good = chunk != 0;
        used += chunk;
    }
    Kernel::finish();
    return good && used == bytes ? COLLPRESS_CODEC_OK : COLLPRESS_CODEC_BAD_STREAM;
}

template <class T, class Kernel>
collpress_codec_result add_streams(const Context &context, const void *a, std::size_t a_bytes, const void *b,
                                   std::size_t b_bytes, std::size_t count, void *out, std::size_t capacity,
                                   std::size_t *out_bytes) {
    std::uint8_t flags_a = 0, flags_b = 0;
    if (!read_header(a, a_bytes, kMagic, context.dtype, count, context.bound, &flags_a) || flags_a != 0 ||
        !read_header(b, b_bytes, kMagic, context.dtype, count, context.bound, &flags_b) || flags_b != 0)
        return COLLPRESS_CODEC_BAD_STREAM;
    const auto *from_a = static_cast<const unsigned char *>(a), *from_b = static_cast<const unsigned char *>(b);
    auto *to = static_cast<unsigned char *>(out);
    std::size_t used_a = sizeof(StreamHeader), used_b = used_a, used = used_a;
    if (capacity < used) return COLLPRESS_CODEC_SMALL_BUFFER;
    for (std::size_t at = 0; at < count; at += kChunk) {
        const std::size_t values = std::min(kChunk, count - at);
        Chunk chunk_a, chunk_b;
        if (!open_chunk<T>(from_a + used_a, a_bytes - used_a, values, chunk_a) ||
            !open_chunk<T>(from_b + used_b, b_bytes - used_b, values, chunk_b))
            return COLLPRESS_CODEC_BAD_STREAM;
        const std::size_t bytes = add_chunks<T, Kernel>(chunk_a, chunk_b, values, to + used, capacity - used);
        if (bytes == 0) return COLLPRESS_CODEC_SMALL_BUFFER;
        used_a += chunk_a.header.bytes;
        used_b += chunk_b.header.bytes;
        used += bytes;
    }
    if (used_a != a_bytes || used_b != b_bytes) return COLLPRESS_CODEC_BAD_STREAM;
    write_header(out, kMagic, context.dtype, count, context.bound, 0);
    *out_bytes = used;
    return COLLPRESS_CODEC_OK;
}

void *create(const collpress_codec_config *config, collpress_codec_result *result) {
    const bool known = config->dtype == COLLPRESS_FLOAT32 || config->dtype == COLLPRESS_FLOAT64;
    if (!known || !(config->abs_bound > 0) || !std::isfinite(config->abs_bound)) {
        *result = COLLPRESS_CODEC_UNSUPPORTED;
        return nullptr;
    }
    auto *context = new (std::nothrow) Context{config->dtype, config->abs_bound, has_avx2()};
    *result = context != nullptr ? COLLPRESS_CODEC_OK : COLLPRESS_CODEC_FAILED;
    return context;
}

void destroy(void *context) { delete static_cast<Context *>(context); }

std::size_t max_bytes(const void *context, std::size_t count) {
    return sizeof(StreamHeader) + chunks_of(count) * sizeof(ChunkHeader) + blocks_of(count) +
           count * size_of(static_cast<const Context *>(context)->dtype);
}

// Calls `function` with the dtype and the kernel of this context.
template <class Function>
collpress_codec_result with_kernel(const Context &context, Function function) {
    const bool narrow = context.dtype == COLLPRESS_FLOAT32;
#if COLLPRESS_X86_KERNELS
    if (context.avx2)
        return narrow ? function.template operator()<float, Avx2>() : function.template operator()<double, Avx2>();
#endif
    return narrow ? function.template operator()<float, Portable>() : function.template operator()<double, Portable>();
}

collpress_codec_result compress(void *opaque, const void *in, std::size_t count, void *out, std::size_t capacity,
                                std::size_t *out_bytes) {
    const auto &context = *static_cast<const Context *>(opaque);
    return with_kernel(context, [&]<class T, class Kernel> {
        return encode<T, Kernel>(context, in, count, out, capacity, out_bytes);
    });
}

collpress_codec_result decompress(void *opaque, const void *in, std::size_t bytes, void *out, std::size_t count) {
    const auto &context = *static_cast<const Context *>(opaque);
    return with_kernel(
        context, [&]<class T, class Kernel> { return decode<T, Kernel, Into::place>(context, in, bytes, out, count); });
}

collpress_codec_result accumulate(void *opaque, const void *in, std::size_t bytes, void *inout, std::size_t count) {
    const auto &context = *static_cast<const Context *>(opaque);
    return with_kernel(
        context, [&]<class T, class Kernel> { return decode<T, Kernel, Into::sum>(context, in, bytes, inout, count); });
}

collpress_codec_result add(void *opaque, const void *a, std::size_t a_bytes, const void *b, std::size_t b_bytes,
                           std::size_t count, void *out, std::size_t capacity, std::size_t *out_bytes) {
    const auto &context = *static_cast<const Context *>(opaque);
    return with_kernel(context, [&]<class T, class Kernel> {
        return add_streams<T, Kernel>(context, a, a_bytes, b, b_bytes, count, out, capacity, out_bytes);
    });
}

double worst_error(const void *context, double) { return static_cast<const Context *>(context)->bound; }

constexpr collpress_codec_extras extras{nullptr, 0, nullptr, add, accumulate};
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
    "error-bounded: rounded to the bound, neighbours' differences, packed in blocks of 256", &codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
