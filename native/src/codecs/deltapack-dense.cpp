// deltapack-dense: our error-bounded codec, dense mode. |x - x'| <= bound for every finite value, and every NaN and
// infinity back bit by bit, in fewer bytes than deltapack and at a fraction of its speed.
//
// Values become integers as in deltapack; a chunk's integers are predicted from their neighbours in one, two or three
// dimensions (config.row and config.plane), with weights that are fitted to the chunk, and the residuals are coded with
// as many bits as their frequency is worth. With bounds as large as the differences of neighbours, fitted weights do
// what Lorenzo's predictor cannot: they average out the rounding of the neighbours.
//
// Every block is verified while it is encoded, with the decoder's own arithmetic; one that would break the bound is
// kept raw. A chunk that would not shrink is kept raw: output exceeds the input by at most 40 bytes a chunk and 32 in
// all. deltapack_dense_format.hpp describes the stream. Damage to headers and tables is detected, and most damage to
// coded bits is; the rest changes values only.
#include "deltapack_dense_kernels.hpp"

#include <memory>
#include <new>
#include <utility>

namespace {

using namespace collpress::codecs;
using namespace collpress::codecs::dense;
using deltapack::Steps;

// What a chunk needs besides input and output.
struct Workspace {
    alignas(32) std::uint32_t integers[kBefore + kChunk + kGroup];
    alignas(32) std::uint8_t symbols[kChunk + kGroup];
    unsigned char halves[2][half_room(kChunk / 2 + 1)];
    unsigned char low[kChunk / 8 * kMostLow];
    std::uint32_t escapes[kChunk];
    std::uint64_t raw[kChunk / kBlock / 64];
    EncodeTable encode;
    DecodeTable decode;

    std::uint32_t *q() { return integers + kBefore; }
    bool is_raw(std::size_t block) const { return (raw[block / 64] >> (block % 64) & 1) != 0; }
};

struct Context {
    std::uint32_t dtype;
    double bound;
    std::uint64_t row, plane;
    bool vectors;
    Workspace work;
};

// Bytes from the first to the last, refused as a whole when they are more than there is room for.
class Writer {
  public:
    Writer(unsigned char *out, std::size_t capacity) : begin_(out), at_(out), left_(capacity) {}

    unsigned char *reserve(std::size_t bytes) {
        if (left_ < bytes) return nullptr;
        unsigned char *here = at_;
        at_ += bytes;
        left_ -= bytes;
        return here;
    }
    bool write(const void *data, std::size_t bytes) {
        unsigned char *to = reserve(bytes);
        if (to != nullptr && bytes > 0) std::memcpy(to, data, bytes);
        return to != nullptr;
    }
    std::size_t written() const { return static_cast<std::size_t>(at_ - begin_); }

  private:
    unsigned char *begin_, *at_;
    std::size_t left_;
};

// The same for reading.
class Reader {
  public:
    Reader(const unsigned char *in, std::size_t bytes) : at_(in), left_(bytes) {}

    const unsigned char *take(std::size_t bytes) {
        if (left_ < bytes) return nullptr;
        const unsigned char *here = at_;
        at_ += bytes;
        left_ -= bytes;
        return here;
    }
    template <class Value>
    bool read(Value &value) {
        const unsigned char *from = take(sizeof value);
        if (from != nullptr) std::memcpy(&value, from, sizeof value);
        return from != nullptr;
    }
    std::size_t left() const { return left_; }

  private:
    const unsigned char *at_;
    std::size_t left_;
};

struct Shape {
    std::size_t row, plane;
    Bands bands;
};

Shape shape_of(const Context &context, std::size_t count) {
    // What is longer than a chunk, bands_of() refuses.
    const auto fits = [](std::uint64_t n) { return static_cast<std::size_t>(std::min<std::uint64_t>(n, kChunk)); };
    return {fits(context.row), fits(context.plane), bands_of(count, context.row, context.plane)};
}

std::size_t begin_of(const Bands &bands, std::size_t band) { return band == 0 ? 0 : bands.ends[band - 1]; }

constexpr std::size_t kTryFiner = ~std::size_t{0};

// Integers of a chunk, and which of its blocks must be raw; returns how many. Those repeat the integer before them.
// Where `finer` is given: kTryFiner when a block breaks the bound for want of a finer step.
template <class T, class Kernel>
std::size_t quantise(const unsigned char *in, std::size_t count, const Quantiser<T> &quantiser, const Steps<T> *finer,
                     Workspace &work) {
    std::uint32_t *q = work.q();
    std::size_t bad = 0;
    std::uint32_t before = 0;
    std::fill_n(work.raw, (blocks_of(count) + 63) / 64, 0);
    unsigned char padded[kBlock * sizeof(T)];
    for (std::size_t block = 0; block < blocks_of(count); ++block) {
        const std::size_t at = block * kBlock, values = std::min(kBlock, count - at);
        const unsigned char *from = in + at * sizeof(T);
        if (values < kBlock) {
            for (std::size_t i = 0; i < kBlock; ++i)
                std::memcpy(padded + i * sizeof(T), from + std::min(i, values - 1) * sizeof(T), sizeof(T));
            from = padded;
        }
        if (!Kernel::template quantise<T>(from, quantiser, q + at)) {
            if (finer != nullptr && finer->may_gain(from, values)) return kTryFiner;
            std::fill_n(q + at, kBlock, before);
            work.raw[block / 64] |= std::uint64_t{1} << (block % 64);
            ++bad;
        }
        before = q[at + kBlock - 1];
    }
    return bad;
}

// The middle one of some of the integers.
std::uint32_t typical(const std::uint32_t *q, std::size_t count) {
    constexpr std::size_t most = 255;
    std::int32_t some[most];
    const std::size_t n = std::min(most, count);
    for (std::size_t i = 0; i < n; ++i) some[i] = static_cast<std::int32_t>(q[i * count / n]);
    std::nth_element(some, some + n / 2, some + n);
    return static_cast<std::uint32_t>(some[n / 2]);
}

// How many low bits are better kept apart: with more, fewer residuals escape, and tables are smaller.
unsigned low_bits(const std::uint64_t (&widths)[33]) {
    unsigned best = 0;
    std::uint64_t least = ~std::uint64_t{0};
    for (unsigned low = 0; low <= kMostLow; ++low) {
        std::uint64_t bits = 0;
        for (unsigned width = 0; width <= 32; ++width)
            bits += widths[width] * (width > low + 7 ? 42 : std::max(low, width) + 1);
        if (bits < least) {
            least = bits;
            best = low;
        }
    }
    return best;
}

// The symbols that have states: those from `first` to `last`, and escapes. Rare ones at the ends escape, too.
void keep_frequent(Counts &counts, std::size_t count, unsigned table_bits, std::uint32_t &first, std::uint32_t &last) {
    // A state is worth (count >> table_bits) · log2(e) bits to the others, an escape costs some 30 bits.
    const auto rare = static_cast<std::uint32_t>((count >> table_bits) / 20);
    first = 0;
    last = kEscape - 1;
    while (first < last && counts[first] <= rare) counts[kEscape] += std::exchange(counts[first++], 0);
    while (first < last && counts[last] <= rare) counts[kEscape] += std::exchange(counts[last--], 0);
}

bool write_counts(Writer &to, const Counts &counts) {
    unsigned char *mask = to.reserve(kSymbols / 8);
    if (mask == nullptr) return false;
    std::fill_n(mask, kSymbols / 8, 0);
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
        if (counts[symbol] == 0) continue;
        mask[symbol / 8] = static_cast<unsigned char>(mask[symbol / 8] | 1u << (symbol % 8));
        const auto states = static_cast<std::uint16_t>(counts[symbol]);
        if (!to.write(&states, sizeof states)) return false;
    }
    return true;
}

bool read_counts(Reader &from, unsigned table_bits, Counts &counts) {
    const unsigned char *mask = from.take(kSymbols / 8);
    if (mask == nullptr) return false;
    counts.fill(0);
    std::uint32_t sum = 0;
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
        if ((mask[symbol / 8] >> (symbol % 8) & 1) == 0) continue;
        std::uint16_t states = 0;
        if (!from.read(states) || states == 0) return false;
        counts[symbol] = states;
        sum += states;
    }
    return sum == 1u << table_bits;
}

bool lone(const Counts &counts, unsigned table_bits) {
    return std::find(counts.begin(), counts.end(), 1u << table_bits) != counts.end();
}

// The coded form of a chunk whose integers are in the workspace; returns its bytes, 0 when `capacity` does not hold it.
template <class T, class Kernel>
std::size_t encode_coded(const unsigned char *in, std::size_t count, std::size_t raw_blocks, double step,
                         const Shape &shape, Workspace &work, unsigned char *out, std::size_t capacity) {
    std::uint32_t *q = work.q();
    ChunkHeader header{};
    header.mode = Mode::coded;
    header.step = step;
    header.raw_blocks = static_cast<std::uint32_t>(raw_blocks);
    header.start = typical(q, count);
    header.table_bits = static_cast<std::uint8_t>(
        std::clamp(static_cast<unsigned>(std::bit_width(count)) - 5, kLeastTable, kMostTable));
    header.bands = static_cast<std::uint8_t>(shape.bands.count);
    std::fill_n(work.integers, kBefore, header.start);

    Predictor predictors[3];
    std::uint64_t widths[33] = {};
    for (std::size_t band = 0; band < shape.bands.count; ++band) {
        const std::size_t begin = begin_of(shape.bands, band), end = shape.bands.ends[band];
        Fit fit(q, header.start, begin, end, shape.row, shape.plane);
        predictors[band] = fit.best(shape.bands.kinds[band]);
        fit.residual_widths(predictors[band], (end - begin) / fit.samples(), widths);
    }
    const unsigned low = low_bits(widths);
    header.low = static_cast<std::uint8_t>(low);

    Writer to(out, capacity);
    if (to.reserve(sizeof header) == nullptr) return 0;
    if (!to.write(predictors, shape.bands.count * sizeof(Predictor))) return 0;

    // Residuals, a tile at a time.
    constexpr std::size_t tile = 4096;
    alignas(32) std::uint32_t residuals[tile];
    const auto residuals_of = [&](std::size_t begin, std::size_t end, std::uint32_t *result) {
        for (std::size_t band = 0; band < shape.bands.count; ++band) {
            const std::size_t from = std::max(begin, begin_of(shape.bands, band));
            const std::size_t upto = std::min(end, shape.bands.ends[band]);
            if (from >= upto) continue;
            const Prepared prepared(predictors[band], header.start, shape.row, shape.plane);
            Kernel::subtract(q, from, upto, predictors[band].kind, prepared, result + (from - begin));
        }
    };
    for (std::size_t at = 0; at < count; at += tile) {
        const std::size_t n = std::min(tile, count - at);
        residuals_of(at, at + n, residuals);
        Kernel::symbols(residuals, n, low, work.symbols + at);
        if (low == 0) continue;
        std::fill(residuals + n, residuals + groups_of(n) * kGroup, 0);
        for (std::size_t group = 0; group < groups_of(n); ++group)
            Kernel::pack_low(residuals + group * kGroup, low, work.low + (at / kGroup + group) * 32 * low);
    }

    Counts counts;
    Kernel::count(work.symbols, count, counts);
    std::uint32_t first = 0, last = 0;
    keep_frequent(counts, count, header.table_bits, first, last);
    if (counts[kEscape] > 0) {
        const auto outside = [&](std::uint8_t symbol) { return symbol < first || symbol > last; };
        for (std::size_t at = 0; at < count; at += kBlock) {
            const std::size_t n = std::min(kBlock, count - at);
            if (n == kBlock && !Kernel::any_outside(work.symbols + at, static_cast<std::uint8_t>(first),
                                                    static_cast<std::uint8_t>(last - first)))
                continue;
            for (std::size_t i = at; i < at + n; ++i) {
                if (!outside(work.symbols[i])) continue;
                work.symbols[i] = kEscape;
                residuals_of(i, i + 1, work.escapes + header.escapes++);
            }
        }
    }
    normalise(counts, count, header.table_bits);
    if (!write_counts(to, counts)) return 0;
    const std::size_t mask_bytes = raw_blocks == 0 ? 0 : (blocks_of(count) + 7) / 8;
    if (!to.write(work.raw, mask_bytes)) return 0;
    const std::size_t checked = to.written() - sizeof header;

    if (!lone(counts, header.table_bits)) {
        build(counts, header.table_bits, work.encode);
        const auto bytes = Kernel::encode(work.encode, work.symbols, count, {work.halves[0], work.halves[1]});
        for (std::size_t half = 0; half < 2; ++half) {
            if (!to.write(work.halves[half], bytes[half])) return 0;
            header.halves[half] = static_cast<std::uint32_t>(bytes[half]);
        }
    }
    if (!to.write(work.low, groups_of(count) * 32 * low)) return 0;
    if (!to.write(work.escapes, header.escapes * sizeof(std::uint32_t))) return 0;
    for (std::size_t block = 0; block < blocks_of(count) && raw_blocks > 0; ++block) {
        if (!work.is_raw(block)) continue;
        const std::size_t at = block * kBlock;
        if (!to.write(in + at * sizeof(T), std::min(kBlock, count - at) * sizeof(T))) return 0;
    }
    header.bytes = static_cast<std::uint32_t>(to.written());
    header.check = chunk_check(header, out + sizeof header, checked);
    std::memcpy(out, &header, sizeof header);
    return header.bytes;
}

// One chunk; returns its bytes, 0 when `capacity` does not hold it.
template <class T, class Kernel>
std::size_t encode_chunk(const unsigned char *in, std::size_t count, const Steps<T> &steps, const Shape &shape,
                         Workspace &work, unsigned char *out, std::size_t capacity) {
    Quantiser<T> quantiser = steps.usual();
    std::size_t bad = quantise<T, Kernel>(in, count, quantiser, &steps, work);
    if (bad == kTryFiner) {
        steps.finer(in, count, quantiser);
        bad = quantise<T, Kernel>(in, count, quantiser, nullptr, work);
    }
    const std::size_t raw = sizeof(ChunkHeader) + count * sizeof(T);
    if (bad < blocks_of(count)) {
        const std::size_t coded = encode_coded<T, Kernel>(in, count, bad, static_cast<double>(quantiser.step), shape,
                                                          work, out, std::min(capacity, raw - 1));
        if (coded != 0) return coded;
    }
    if (capacity < raw) return 0;
    ChunkHeader header{};
    header.bytes = static_cast<std::uint32_t>(raw);
    header.mode = Mode::raw;
    header.check = chunk_check(header, nullptr, 0);
    std::memcpy(out, &header, sizeof header);
    std::memcpy(out + sizeof header, in, count * sizeof(T));
    return raw;
}

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
        const std::size_t bytes = encode_chunk<T, Kernel>(
            from + at * sizeof(T), values, steps, shape_of(context, values), context.work, to + used, capacity - used);
        if (bytes == 0) return COLLPRESS_CODEC_SMALL_BUFFER;
        used += bytes;
    }
    write_header(out, kMagic, context.dtype, count, context.bound, 0);
    *out_bytes = used;
    return COLLPRESS_CODEC_OK;
}

// The parts of a coded chunk.
struct Parts {
    Predictor predictors[3];
    Counts counts;
    const unsigned char *halves[2], *low, *escapes, *values;
};

// Finds them, and the mask of raw blocks; false where the chunk is damaged.
template <class T>
bool open_coded(const ChunkHeader &header, const unsigned char *rest, std::size_t count, const Shape &shape,
                Workspace &work, Parts &parts) {
    if (header.low > kMostLow || header.table_bits < kLeastTable || header.table_bits > kMostTable) return false;
    if (header.bands != shape.bands.count) return false;
    if (!(std::abs(header.step) <= static_cast<double>(std::numeric_limits<T>::max()))) return false;
    Reader from(rest, header.bytes - sizeof header);
    const std::size_t all = from.left(), blocks = blocks_of(count);
    for (std::size_t band = 0; band < shape.bands.count; ++band)
        if (!from.read(parts.predictors[band]) || parts.predictors[band].kind > shape.bands.kinds[band]) return false;
    if (!read_counts(from, header.table_bits, parts.counts)) return false;
    std::fill_n(work.raw, (blocks + 63) / 64, 0);
    const std::size_t mask_bytes = header.raw_blocks == 0 ? 0 : (blocks + 7) / 8;
    const unsigned char *mask = from.take(mask_bytes);
    if (mask == nullptr) return false;
    std::memcpy(work.raw, mask, mask_bytes);
    if (header.check != chunk_check(header, rest, all - from.left())) return false;
    std::size_t raw_values = 0, raw_blocks = 0;
    for (std::size_t block = 0; block < blocks && header.raw_blocks > 0; ++block) {
        if (!work.is_raw(block)) continue;
        ++raw_blocks;
        raw_values += std::min(kBlock, count - block * kBlock);
    }
    if (raw_blocks != header.raw_blocks) return false;
    for (std::size_t half = 0; half < 2; ++half)
        if ((parts.halves[half] = from.take(header.halves[half])) == nullptr) return false;
    parts.low = from.take(groups_of(count) * 32 * header.low);
    if (parts.low == nullptr) return false;
    parts.escapes = from.take(std::size_t{header.escapes} * sizeof(std::uint32_t));
    if (parts.escapes == nullptr) return false;
    parts.values = from.take(raw_values * sizeof(T));
    return parts.values != nullptr && from.left() == 0;
}

// Residuals of a chunk, in the workspace; false where it is damaged.
template <class Kernel>
bool decode_residuals(const ChunkHeader &header, const Parts &parts, std::size_t count, Workspace &work) {
    std::uint32_t *q = work.q();
    if (lone(parts.counts, header.table_bits)) {
        const auto *symbol = std::max_element(parts.counts.begin(), parts.counts.end());
        std::fill_n(work.symbols, count, static_cast<std::uint8_t>(symbol - parts.counts.begin()));
        if (header.halves[0] != 0 || header.halves[1] != 0) return false;
    } else {
        build(parts.counts, header.table_bits, work.decode);
        if (!Kernel::decode(work.decode, parts.halves, header.halves, work.symbols, count)) return false;
    }
    Kernel::residuals(work.symbols, count, header.low, q);
    for (std::size_t group = 0; group < groups_of(count) && header.low > 0; ++group)
        Kernel::unpack_low(parts.low + group * 32 * header.low, header.low, q + group * kGroup);
    std::size_t escaped = 0;
    for (std::size_t at = 0; at < count && parts.counts[kEscape] > 0; at += kBlock) {
        const std::size_t n = std::min(kBlock, count - at);
        if (n == kBlock && !Kernel::any_outside(work.symbols + at, 0, kEscape - 1)) continue;
        for (std::size_t i = at; i < at + n; ++i) {
            if (work.symbols[i] != kEscape) continue;
            if (escaped == header.escapes) return false;
            std::memcpy(q + i, parts.escapes + escaped++ * sizeof(std::uint32_t), sizeof(std::uint32_t));
        }
    }
    return escaped == header.escapes;
}

enum class Into { place, sum };

// Writes, or adds, the values [begin, end) of a chunk; `raw` points at the values of the next raw block.
template <class T, class Kernel, Into How>
void put_values(const Workspace &work, const std::uint32_t *q, std::size_t begin, std::size_t end, T step, bool any_raw,
                const unsigned char *&raw, unsigned char *out) {
    const auto put = [&](std::size_t at, std::size_t n) {
        if constexpr (How == Into::sum)
            Kernel::template accumulate<T>(q + at, n, step, out + at * sizeof(T));
        else
            Kernel::template dequantise<T>(q + at, n, step, out + at * sizeof(T));
    };
    if (!any_raw) return put(begin, end - begin);
    for (std::size_t at = begin; at < end; at += kBlock) {
        const std::size_t n = std::min(kBlock, end - at);
        if (!work.is_raw(at / kBlock)) {
            put(at, n);
            continue;
        }
        if constexpr (How == Into::sum)
            deltapack::add_values<T>(raw, out + at * sizeof(T), n);
        else
            std::memcpy(out + at * sizeof(T), raw, n * sizeof(T));
        raw += n * sizeof(T);
    }
}

// One chunk; returns its bytes, 0 when it is damaged. Reads nothing beyond `available` bytes.
template <class T, class Kernel, Into How>
std::size_t decode_chunk(const unsigned char *in, std::size_t available, std::size_t count, const Shape &shape,
                         Workspace &work, unsigned char *out) {
    ChunkHeader header;
    if (available < sizeof header) return 0;
    std::memcpy(&header, in, sizeof header);
    if (header.bytes > available || header.bytes < sizeof header) return 0;
    const unsigned char *rest = in + sizeof header;
    if (header.mode == Mode::raw) {
        if (header.bytes != sizeof header + count * sizeof(T) || header.check != chunk_check(header, nullptr, 0))
            return 0;
        if constexpr (How == Into::sum)
            deltapack::add_values<T>(rest, out, count);
        else
            std::memcpy(out, rest, count * sizeof(T));
        return header.bytes;
    }
    Parts parts;
    if (header.mode != Mode::coded || !open_coded<T>(header, rest, count, shape, work, parts)) return 0;
    if (!decode_residuals<Kernel>(header, parts, count, work)) return 0;
    std::uint32_t *q = work.q();
    std::fill_n(work.integers, kBefore, header.start);
    constexpr std::size_t tile = 4096; // a multiple of kBlock; stays in the cache between prediction and output
    const unsigned char *raw = parts.values;
    std::size_t band = 0;
    for (std::size_t at = 0; at < count; at += tile) {
        const std::size_t end = std::min(at + tile, count);
        for (std::size_t from = at; from < end;) {
            while (from >= shape.bands.ends[band]) ++band;
            const std::size_t upto = std::min(end, shape.bands.ends[band]);
            const Prepared prepared(parts.predictors[band], header.start, shape.row, shape.plane);
            Kernel::predict(q, from, upto, parts.predictors[band].kind, prepared, shape.row);
            from = upto;
        }
        put_values<T, Kernel, How>(work, q, at, end, static_cast<T>(header.step), header.raw_blocks > 0, raw, out);
    }
    return header.bytes;
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
        const std::size_t chunk = decode_chunk<T, Kernel, How>(
            from + used, bytes - used, values, shape_of(context, values), context.work, to + at * sizeof(T));
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
