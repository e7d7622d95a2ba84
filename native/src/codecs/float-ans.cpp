// float-ans: lossless compression of floating-point values by their exponents, as DietGPU does it: exponents of usual
// data have few bits of information, which rANS (rans.hpp) leaves of them; signs and mantissas are kept as they are.
//
//   stream = StreamHeader, then for each chunk of 65536 values (the last one shorter):
//            ChunkHeader, and if it is not raw:
//            the exponents that occur, ascending, and their frequencies, 4096 together, two bytes each;
//            signs and mantissas: the lowest whole bytes (float32: 2 and 1, float64: 4 and 2, halves: 1) as planes, and
//            what is left above them (float64: 5 bits, float16: 3) of eight values at a time in so many bytes, first
//            value lowest;
//            the rANS stream of the exponents (float64: of their places among those that occur); where only one
//            exponent occurs, there is none
//
// Raw chunks are the values as they are: those with more than 256 different exponents (float64), and those that would
// not become smaller.
#include "rans.hpp"
#include "stream.hpp"

#include <exception>
#include <functional>
#include <new>
#include <type_traits>
#include <vector>

namespace {

using namespace collpress::codecs;

constexpr std::uint32_t kMagic = 0x31414643; // "CFA1"
constexpr std::size_t kChunk = 65536;

struct ChunkHeader {
    std::uint32_t bytes;   // of the whole chunk, this header with it
    std::uint32_t symbols; // different exponents; 0: raw
    std::uint32_t check;   // of what is before it and of the table of exponents
};

// The bits of a dtype: exponent, and the rest, which is sign and mantissa with the sign on top.
struct NoPlane {};
template <class WordType, int exponent_bits, int mantissa_bits, class LowType, class HighType>
struct Format {
    using Word = WordType;
    using Low = LowType;   // the lowest bits of the rest
    using High = HighType; // those above; NoPlane: there are no more whole bytes
    static constexpr std::size_t kExponents = std::size_t{1} << exponent_bits;
    static constexpr bool kHasHigh = !std::is_same_v<High, NoPlane>;
    static constexpr std::size_t kHighBytes = kHasHigh ? sizeof(High) : 0;
    static constexpr int kHighAt = 8 * sizeof(Low), kTopAt = kHighAt + 8 * static_cast<int>(kHighBytes);
    static constexpr int kTopBits = mantissa_bits + 1 - kTopAt; // what is left above
    static constexpr Word kMantissa = static_cast<Word>((Word{1} << mantissa_bits) - 1);

    static std::size_t exponent(Word word) { return word >> mantissa_bits & (kExponents - 1); }
    static Word rest(Word word) {
        const auto sign = static_cast<Word>(word >> (exponent_bits + mantissa_bits));
        return static_cast<Word>((word & kMantissa) | static_cast<Word>(sign << mantissa_bits));
    }
    static Word join(Word exponent, Word rest) {
        const auto sign = static_cast<Word>(rest >> mantissa_bits);
        return static_cast<Word>((rest & kMantissa) | static_cast<Word>(exponent << mantissa_bits) |
                                 static_cast<Word>(sign << (exponent_bits + mantissa_bits)));
    }
    static constexpr std::size_t rest_bytes(std::size_t n) {
        return n * (sizeof(Low) + kHighBytes) + (n + 7) / 8 * kTopBits;
    }
};
using Float32 = Format<std::uint32_t, 8, 23, std::uint16_t, std::uint8_t>;
using Float64 = Format<std::uint64_t, 11, 52, std::uint32_t, std::uint16_t>;
using Half = Format<std::uint16_t, 5, 10, std::uint8_t, NoPlane>;
using BrainHalf = Format<std::uint16_t, 8, 7, std::uint8_t, NoPlane>;

// The exponents that occur in a chunk.
struct Table {
    static constexpr std::size_t kMost = 256;
    std::size_t symbols = 0;
    std::array<std::uint16_t, kMost> exponents{}, frequencies{};
    std::array<std::uint8_t, kMost> symbol{}; // what rANS codes for them

    std::size_t bytes() const { return 2 * symbols * sizeof(std::uint16_t); }

    template <class F>
    void name_symbols() {
        for (std::size_t s = 0; s < symbols; ++s)
            symbol[s] = static_cast<std::uint8_t>(F::kExponents > kMost ? s : exponents[s]);
    }
    void write(unsigned char *to) const {
        std::memcpy(to, exponents.data(), bytes() / 2);
        std::memcpy(to + bytes() / 2, frequencies.data(), bytes() / 2);
    }
    // False: exponents that there are not, or not in order.
    template <class F>
    bool read(const unsigned char *from) {
        std::memcpy(exponents.data(), from, bytes() / 2);
        std::memcpy(frequencies.data(), from + bytes() / 2, bytes() / 2);
        name_symbols<F>();
        const auto *end = exponents.data() + symbols;
        return exponents[symbols - 1] < F::kExponents &&
               std::adjacent_find<const std::uint16_t *>(exponents.data(), end, std::greater_equal<>()) == end;
    }
};

struct Context {
    std::uint32_t dtype;
    Table table;
    rans::Encoder encoder;
    rans::Decoder decoder;
    std::vector<std::uint8_t> symbols;   // of a chunk
    std::vector<unsigned char> coded;    // its rANS stream, at the end
    std::vector<std::uint8_t> symbol_of; // by exponent

    explicit Context(std::uint32_t type)
        : dtype(type), symbols(kChunk), coded(rans::limit(kChunk)), symbol_of(Float64::kExponents) {}
};

template <class T>
T load(const unsigned char *from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

std::uint32_t chunk_check(const ChunkHeader &header, const unsigned char *table, std::size_t table_bytes) {
    const std::uint64_t seed = checksum(&header, offsetof(ChunkHeader, check), 2);
    return static_cast<std::uint32_t>(checksum(table, table_bytes, seed));
}

// Which exponents n values have, and how often. False: more than the table takes.
template <class F>
bool tabulate(Context &context, const unsigned char *in, std::size_t n) {
    // Several counters for each, so that equal neighbours do not wait for each other.
    static_assert(kChunk % 4 == 0);
    std::array<std::array<std::uint32_t, F::kExponents>, 4> counters{};
    using Word = typename F::Word;
    for (std::size_t i = 0; i < n; ++i) ++counters[i % 4][F::exponent(load<Word>(in + i * sizeof(Word)))];
    Table &table = context.table;
    table.symbols = 0;
    std::array<std::uint32_t, Table::kMost> counts{};
    for (std::size_t e = 0; e < F::kExponents; ++e) {
        const std::uint32_t count = counters[0][e] + counters[1][e] + counters[2][e] + counters[3][e];
        if (count == 0) continue;
        if (table.symbols == Table::kMost) return false;
        table.exponents[table.symbols] = static_cast<std::uint16_t>(e);
        context.symbol_of[e] = static_cast<std::uint8_t>(F::kExponents > Table::kMost ? table.symbols : e);
        counts[table.symbols++] = count;
    }
    table.name_symbols<F>();
    table.frequencies.fill(0);
    if (table.symbols > 1) rans::normalise(counts.data(), table.symbols, table.frequencies.data());
    return true;
}

template <class F>
void split(Context &context, const unsigned char *in, std::size_t n, unsigned char *out) {
    using Word = typename F::Word;
    using Low = typename F::Low;
    std::uint8_t *symbols = context.symbols.data();
    const std::uint8_t *symbol_of = context.symbol_of.data();
    unsigned char *high = out + n * sizeof(Low), *top = high + n * F::kHighBytes;
    for (std::size_t i = 0; i < n; ++i) {
        const Word word = load<Word>(in + i * sizeof(Word)), rest = F::rest(word);
        const std::size_t exponent = F::exponent(word);
        symbols[i] = F::kExponents > Table::kMost ? symbol_of[exponent] : static_cast<std::uint8_t>(exponent);
        const auto low = static_cast<Low>(rest);
        std::memcpy(out + i * sizeof low, &low, sizeof low);
        if constexpr (F::kHasHigh) {
            const auto bits = static_cast<typename F::High>(rest >> F::kHighAt);
            std::memcpy(high + i * sizeof bits, &bits, sizeof bits);
        }
    }
    if constexpr (F::kTopBits > 0)
        for (std::size_t i = 0; i < n; i += 8, top += F::kTopBits) {
            std::uint64_t together = 0;
            for (std::size_t j = 0; j < std::min<std::size_t>(8, n - i); ++j) {
                const Word rest = F::rest(load<Word>(in + (i + j) * sizeof(Word)));
                together |= static_cast<std::uint64_t>(rest >> F::kTopAt) << j * F::kTopBits;
            }
            std::memcpy(top, &together, F::kTopBits);
        }
}

template <class F>
void join(const Context &context, const unsigned char *in, std::size_t n, unsigned char *out) {
    using Word = typename F::Word;
    using Low = typename F::Low;
    const std::uint8_t *symbols = context.symbols.data();
    const std::uint16_t *exponents = context.table.exponents.data();
    const unsigned char *high = in + n * sizeof(Low), *top = high + n * F::kHighBytes;
    const auto value = [&](std::size_t i, Word above) {
        Word rest = load<Low>(in + i * sizeof(Low));
        if constexpr (F::kHasHigh)
            rest |=
                static_cast<Word>(static_cast<Word>(load<typename F::High>(high + i * F::kHighBytes)) << F::kHighAt);
        rest |= above;
        const Word word = F::join(F::kExponents > Table::kMost ? exponents[symbols[i]] : symbols[i], rest);
        std::memcpy(out + i * sizeof word, &word, sizeof word);
    };
    if constexpr (F::kTopBits == 0) {
        for (std::size_t i = 0; i < n; ++i) value(i, 0);
    } else {
        constexpr std::uint64_t mask = (1u << F::kTopBits) - 1;
        for (std::size_t i = 0; i < n; i += 8, top += F::kTopBits) {
            std::uint64_t together = 0;
            std::memcpy(&together, top, F::kTopBits);
            for (std::size_t j = 0; j < std::min<std::size_t>(8, n - i); ++j)
                value(i + j, static_cast<Word>((together >> j * F::kTopBits & mask) << F::kTopAt));
        }
    }
}

// One chunk of n values at `out`; its bytes, 0 where they do not fit.
template <class F>
std::size_t write_chunk(Context &context, const unsigned char *in, std::size_t n, unsigned char *out,
                        std::size_t room) {
    const std::size_t raw = n * sizeof(typename F::Word);
    const Table &table = context.table;
    if (room < sizeof(ChunkHeader)) return 0;
    const bool few = tabulate<F>(context, in, n);
    const std::size_t before = few ? sizeof(ChunkHeader) + table.bytes() + F::rest_bytes(n) : 0;
    ChunkHeader header{static_cast<std::uint32_t>(sizeof(ChunkHeader) + raw), 0, 0};
    if (few && before < header.bytes && before <= room) {
        split<F>(context, in, n, out + sizeof header + table.bytes());
        std::size_t coded = 0;
        if (table.symbols > 1) {
            context.encoder.set(table.symbol.data(), table.frequencies.data(), table.symbols);
            coded = context.encoder.encode(context.symbols.data(), n, context.coded.data(), context.coded.size());
        }
        if (before + coded < header.bytes) {
            if (room - before < coded) return 0;
            if (coded > 0) std::memcpy(out + before, &context.coded[context.coded.size() - coded], coded);
            header.bytes = static_cast<std::uint32_t>(before + coded);
            header.symbols = static_cast<std::uint32_t>(table.symbols);
            table.write(out + sizeof header);
        }
    }
    if (header.symbols == 0) {
        if (room < header.bytes) return 0;
        std::memcpy(out + sizeof header, in, raw);
    }
    header.check = chunk_check(header, out + sizeof header, header.symbols == 0 ? 0 : table.bytes());
    std::memcpy(out, &header, sizeof header);
    return header.bytes;
}

// One chunk of n values from at most `left` bytes; its bytes, 0 where it is damaged.
template <class F>
std::size_t read_chunk(Context &context, const unsigned char *in, std::size_t left, std::size_t n, unsigned char *out) {
    const std::size_t raw = n * sizeof(typename F::Word);
    Table &table = context.table;
    if (left < sizeof(ChunkHeader)) return 0;
    const auto header = load<ChunkHeader>(in);
    if (header.bytes > left || header.symbols > Table::kMost) return 0;
    table.symbols = header.symbols;
    const unsigned char *body = in + sizeof header;
    const std::size_t before = sizeof header + table.bytes() + (table.symbols == 0 ? raw : F::rest_bytes(n));
    if (header.bytes < before || header.check != chunk_check(header, body, table.bytes())) return 0;
    const std::size_t coded = header.bytes - before;
    if (table.symbols == 0) {
        if (coded != 0) return 0;
        std::memcpy(out, body, raw);
        return header.bytes;
    }
    if (!table.read<F>(body)) return 0;
    if (table.symbols == 1) {
        if (coded != 0) return 0;
        std::fill_n(context.symbols.begin(), n, table.symbol[0]);
    } else if (!context.decoder.set(table.symbol.data(), table.frequencies.data(), table.symbols) ||
               !context.decoder.decode(in + before, coded, n, context.symbols.data())) {
        return 0;
    }
    join<F>(context, body + table.bytes(), n, out);
    return header.bytes;
}

template <class Use>
decltype(auto) with_format(std::uint32_t dtype, const Use &use) {
    switch (dtype) {
    case COLLPRESS_FLOAT64:
        return use(std::type_identity<Float64>());
    case COLLPRESS_FLOAT16:
        return use(std::type_identity<Half>());
    case COLLPRESS_BFLOAT16:
        return use(std::type_identity<BrainHalf>());
    default:
        return use(std::type_identity<Float32>());
    }
}

constexpr std::uint32_t kDtypes = COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT32) | COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT64) |
                                  COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT16) | COLLPRESS_DTYPE_BIT(COLLPRESS_BFLOAT16);

void *create(const collpress_codec_config *config, collpress_codec_result *result) try {
    const bool known = (kDtypes & COLLPRESS_DTYPE_BIT(config->dtype)) != 0;
    *result = known ? COLLPRESS_CODEC_OK : COLLPRESS_CODEC_UNSUPPORTED;
    return known ? new Context(config->dtype) : nullptr;
} catch (const std::exception &) {
    *result = COLLPRESS_CODEC_FAILED; // no memory
    return nullptr;
}

void destroy(void *context) { delete static_cast<Context *>(context); }

std::size_t max_bytes(const void *opaque, std::size_t count) {
    return sizeof(StreamHeader) + (count + kChunk - 1) / kChunk * sizeof(ChunkHeader) +
           count * size_of(static_cast<const Context *>(opaque)->dtype);
}

collpress_codec_result compress(void *opaque, const void *in, std::size_t count, void *out, std::size_t capacity,
                                std::size_t *out_bytes) {
    auto &context = *static_cast<Context *>(opaque);
    if (capacity < sizeof(StreamHeader)) return COLLPRESS_CODEC_SMALL_BUFFER;
    write_header(out, kMagic, context.dtype, count, 0, 0);
    return with_format(context.dtype, [&]<class F>(std::type_identity<F>) {
        const auto *values = static_cast<const unsigned char *>(in);
        auto *to = static_cast<unsigned char *>(out);
        std::size_t at = sizeof(StreamHeader);
        for (std::size_t done = 0; done < count; done += kChunk) {
            const std::size_t bytes = write_chunk<F>(context, values + done * sizeof(typename F::Word),
                                                     std::min(kChunk, count - done), to + at, capacity - at);
            if (bytes == 0) return COLLPRESS_CODEC_SMALL_BUFFER;
            at += bytes;
        }
        *out_bytes = at;
        return COLLPRESS_CODEC_OK;
    });
}

collpress_codec_result decompress(void *opaque, const void *in, std::size_t bytes, void *out, std::size_t count) {
    auto &context = *static_cast<Context *>(opaque);
    std::uint8_t flags = 0;
    if (!read_header(in, bytes, kMagic, context.dtype, count, 0, &flags) || flags != 0)
        return COLLPRESS_CODEC_BAD_STREAM;
    return with_format(context.dtype, [&]<class F>(std::type_identity<F>) {
        const auto *from = static_cast<const unsigned char *>(in);
        auto *values = static_cast<unsigned char *>(out);
        std::size_t at = sizeof(StreamHeader);
        for (std::size_t done = 0; done < count; done += kChunk) {
            const std::size_t used = read_chunk<F>(context, from + at, bytes - at, std::min(kChunk, count - done),
                                                   values + done * sizeof(typename F::Word));
            if (used == 0) return COLLPRESS_CODEC_BAD_STREAM;
            at += used;
        }
        return at == bytes ? COLLPRESS_CODEC_OK : COLLPRESS_CODEC_BAD_STREAM;
    });
}

double worst_error(const void *, double) { return 0; }

constexpr collpress_codec codec{kDtypes, 0, 1, create, destroy, max_bytes, compress, decompress, worst_error, nullptr};
constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC,
                                    "exponents by rANS, signs and mantissas as they are, lossless", &codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
