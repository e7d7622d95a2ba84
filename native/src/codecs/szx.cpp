// szx: the algorithm of SZx (Yu et al., "Ultrafast Error-bounded Lossy Compression for Scientific Datasets", HPDC 2022,
// arXiv 2201.13020): blocks in one dimension, each either constant within the bound or the leading bits of
// floating-point differences, of which the bytes that differ from the value before are kept. Additions and operations
// on bits only. It is here as a baseline: own code, own format, no vector kernels.
//
//   stream  = StreamHeader, StateHeader, one bit a block (1: constant), then the blocks
//   block   = constant: the median, a float (double)
//             else: width, a byte; 255: the values as they are; otherwise
//             the median, a code of 2 bits for each value, four in a byte, and the bytes that are left of the values
//
// A block's median is μ = (max + min) / 2 and its radius r = max |x − μ|; it is constant where r is within the bound.
// Otherwise the leading `width` bits of x − μ are kept: sign, exponent, and as many bits of the mantissa as the
// exponent of r exceeds that of the bound. They are shifted right so that they end with a byte, and the code says how
// many of their leading bytes, at most 3, are those of the value before.
//
// Unlike the published program:
//   - every value is decoded while it is encoded, by the decoder's arithmetic; a block in which rounding would break
//     the bound gets one more bit, or else is kept as it is, as blocks with NaN or infinities are;
//   - blocks that would not become smaller are kept as they are, so that a stream never exceeds its values by more than
//     two headers and a byte and a bit for each block;
//   - the bytes of a block's values lie behind all of its codes, lowest first; its width is a byte before it;
//   - block sizes above 255 work, sizes are checked before anything is read, and there is no global state.
#include "parameters.hpp"
#include "stream.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <type_traits>
#include <vector>

namespace {

using namespace collpress::codecs;

constexpr collpress_codec_parameter parameters[] = {
    {"block", "values in a block: short ones are constant more often, long ones have fewer medians", nullptr, 128, 32,
     1024, 1},
};

constexpr std::uint32_t kMagic = 0x31585a53; // "SZX1"
constexpr std::uint8_t kRaw = 255;
constexpr std::size_t kSlack = 8; // bytes that may be touched behind those of a value

struct StateHeader {
    std::uint32_t block;
    std::uint32_t check; // of the block's size and the states
};

struct Context {
    std::uint32_t dtype;
    double bound;
    std::size_t block;
    std::vector<unsigned char> scratch; // one block's codes and bytes
};

template <class T>
struct Block {
    using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    static constexpr int kBits = 8 * sizeof(T);
    static constexpr int kMantissa = sizeof(T) == 4 ? 23 : 52;
    static constexpr int kFixed = kBits - kMantissa; // sign and exponent

    // How the leading `width` bits lie in a word: shifted right by `shift`, they fill its leading `bytes` bytes.
    int shift, bytes;

    explicit Block(int width) : shift((8 - width % 8) % 8), bytes((width + shift) / 8) {}

    // The kept bits of a difference, as a number of `bytes` bytes; and back.
    Word kept(T difference) const { return std::bit_cast<Word>(difference) >> shift >> (kBits - 8 * bytes); }
    T difference(Word kept) const { return std::bit_cast<T>(static_cast<Word>(kept << (kBits - 8 * bytes) << shift)); }

    // Mask of the lowest n bytes, n < sizeof(Word) + 1.
    static Word low(int n) { return n == 0 ? 0 : static_cast<Word>(~Word{0}) >> (kBits - 8 * n); }
};

constexpr std::size_t code_bytes(std::size_t n) { return (n + 3) / 4; }

// |x - y| <= bound; a float difference is exact in double or rounds far from a float's bound, a double one must stay
// below by its own rounding: `below` is the double before the bound.
template <class T>
bool within(T x, T y, double below) {
    return std::abs(static_cast<double>(x) - static_cast<double>(y)) <= below;
}

// The bytes of a block of n values at `out`, which has room for them and kSlack more; 0 where the bound would be
// broken.
template <class T>
std::size_t encode(const T *x, std::size_t n, T median, int width, double below, unsigned char *out) {
    using Word = typename Block<T>::Word;
    const Block<T> block(width);
    unsigned char *codes = out, *to = out + code_bytes(n);
    std::memset(codes, 0, code_bytes(n));
    Word before = 0;
    bool good = true;
    for (std::size_t i = 0; i < n; ++i) {
        // The bits that are shifted out are zero in `kept`'s word already: they are not kept.
        const Word kept = block.kept(x[i] - median);
        good = good && within(x[i], static_cast<T>(median + block.difference(kept)), below);
        const Word changed = (kept ^ before) << (Block<T>::kBits - 8 * block.bytes);
        const int same = std::min({std::countl_zero(changed) / 8, 3, block.bytes});
        codes[i / 4] |= static_cast<unsigned char>(same << i % 4 * 2);
        std::memcpy(to, &kept, sizeof kept);
        to += block.bytes - same;
        before = kept;
    }
    return good ? static_cast<std::size_t>(to - out) : 0;
}

// Whether values differ by more than `bound` allows to be one, and what they then need.
template <class T>
struct Extent {
    T median = 0;
    bool finite = true, constant = false;
    int width = 0;
};

template <class T>
Extent<T> extent(const T *x, std::size_t n, double bound) {
    T least = x[0], most = x[0], poison = 0;
    for (std::size_t i = 0; i < n; ++i) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
        poison += x[i] * 0; // NaN for NaN and infinities
    }
    Extent<T> found;
    found.finite = poison == 0;
    if (!found.finite) return found;
    found.median = static_cast<T>(most / 2 + least / 2);
    const T radius = std::max(most - found.median, found.median - least);
    found.finite = radius <= std::numeric_limits<T>::max();
    const double below = std::nextafter(bound, 0.0);
    found.constant = within(most, found.median, below) && within(least, found.median, below);
    if (found.finite && !found.constant)
        found.width = Block<T>::kFixed + std::clamp(std::ilogb(radius) - std::ilogb(bound), 0, Block<T>::kMantissa);
    return found;
}

class Writer {
  public:
    Writer(void *out, std::size_t capacity) : out_(static_cast<unsigned char *>(out)), capacity_(capacity) {}
    // Room for `bytes` more; nullptr: there is none.
    unsigned char *take(std::size_t bytes) {
        if (capacity_ - used_ < bytes) return nullptr;
        used_ += bytes;
        return out_ + used_ - bytes;
    }
    bool put(const void *from, std::size_t bytes) {
        unsigned char *to = take(bytes);
        if (to != nullptr) std::memcpy(to, from, bytes);
        return to != nullptr;
    }
    std::size_t used() const { return used_; }

  private:
    unsigned char *out_;
    std::size_t capacity_, used_ = 0;
};

template <class T>
bool write_block(Context &context, const T *x, std::size_t n, Writer &writer, bool *constant) {
    const Extent<T> found = extent(x, n, context.bound);
    *constant = found.finite && found.constant;
    if (*constant) return writer.put(&found.median, sizeof(T));
    const double below = std::nextafter(context.bound, 0.0);
    for (int more = 0; more < 2 && found.finite; ++more) {
        const int width = found.width + more;
        if (width > Block<T>::kBits) break;
        unsigned char *scratch = context.scratch.data();
        const std::size_t bytes = encode(x, n, found.median, width, below, scratch);
        if (bytes == 0) continue;
        if (sizeof(T) + bytes >= n * sizeof(T)) break;
        const auto byte = static_cast<unsigned char>(width);
        return writer.put(&byte, 1) && writer.put(&found.median, sizeof(T)) && writer.put(scratch, bytes);
    }
    return writer.put(&kRaw, 1) && writer.put(x, n * sizeof(T));
}

template <class T>
collpress_codec_result compress_as(Context &context, const unsigned char *in, std::size_t count, void *out,
                                   std::size_t capacity, std::size_t *out_bytes) {
    const std::size_t blocks = (count + context.block - 1) / context.block;
    Writer writer(out, capacity);
    unsigned char *header = writer.take(sizeof(StreamHeader));
    if (header == nullptr) return COLLPRESS_CODEC_SMALL_BUFFER;
    write_header(header, kMagic, context.dtype, count, context.bound, 0);
    if (count > 0) {
        unsigned char *state = writer.take(sizeof(StateHeader) + (blocks + 7) / 8);
        if (state == nullptr) return COLLPRESS_CODEC_SMALL_BUFFER;
        unsigned char *states = state + sizeof(StateHeader);
        std::memset(states, 0, (blocks + 7) / 8);
        std::vector<T> x(context.block); // values at any alignment
        for (std::size_t i = 0; i < blocks; ++i) {
            const std::size_t n = std::min(context.block, count - i * context.block);
            std::memcpy(x.data(), in + i * context.block * sizeof(T), n * sizeof(T));
            bool constant = false;
            if (!write_block(context, x.data(), n, writer, &constant)) return COLLPRESS_CODEC_SMALL_BUFFER;
            if (constant) states[i / 8] |= static_cast<unsigned char>(1u << i % 8);
        }
        StateHeader said{static_cast<std::uint32_t>(context.block), 0};
        said.check = static_cast<std::uint32_t>(checksum(states, (blocks + 7) / 8, said.block));
        std::memcpy(state, &said, sizeof said);
    }
    *out_bytes = writer.used();
    return COLLPRESS_CODEC_OK;
}

// How many bytes the four values of a byte of codes leave out together.
constexpr auto kLeftOut = [] {
    std::array<std::uint8_t, 256> sums{};
    for (unsigned code = 0; code < 256; ++code)
        sums[code] = static_cast<std::uint8_t>((code & 3) + (code >> 2 & 3) + (code >> 4 & 3) + (code >> 6));
    return sums;
}();

// One block of n values that is not constant, from `from` on; returns its bytes, 0 where it is damaged.
template <class T>
std::size_t read_block(Context &context, const unsigned char *from, std::size_t left, std::size_t n, T *x) {
    using Word = typename Block<T>::Word;
    if (left < 1) return 0;
    const int width = *from;
    if (width == kRaw) {
        if (left - 1 < n * sizeof(T)) return 0;
        std::memcpy(x, from + 1, n * sizeof(T));
        return 1 + n * sizeof(T);
    }
    const std::size_t before_bytes = 1 + sizeof(T) + code_bytes(n);
    if (width < Block<T>::kFixed || width > Block<T>::kBits || left < before_bytes) return 0;
    const Block<T> block(width);
    const unsigned char *codes = from + 1 + sizeof(T), *bytes = from + before_bytes;
    std::size_t left_out = 0;
    int threes = 0;
    for (std::size_t i = 0; i < code_bytes(n); ++i) {
        left_out += kLeftOut[codes[i]];
        threes |= codes[i] & codes[i] >> 1 & 0x55;
    }
    if (n % 4 != 0 && codes[n / 4] >> n % 4 * 2 != 0) return 0; // codes of no value
    if (block.bytes < 3 && threes != 0) return 0;
    const std::size_t rest = n * static_cast<std::size_t>(block.bytes) - left_out;
    if (left - before_bytes < rest) return 0;
    if (left - before_bytes - rest < kSlack) { // words are read whole: near the end, from a copy
        std::memcpy(context.scratch.data(), bytes, rest);
        bytes = context.scratch.data();
    }
    T median;
    std::memcpy(&median, from + 1, sizeof median);
    Word kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const int own = block.bytes - (codes[i / 4] >> i % 4 * 2 & 3);
        Word word;
        std::memcpy(&word, bytes, sizeof word);
        const Word mask = Block<T>::low(own);
        kept = (kept & ~mask) | (word & mask);
        x[i] = static_cast<T>(median + block.difference(kept));
        bytes += own;
    }
    return before_bytes + rest;
}

template <class T>
bool decompress_as(Context &context, const unsigned char *in, std::size_t bytes, unsigned char *out,
                   std::size_t count) {
    if (count == 0) return bytes == 0;
    const std::size_t blocks = (count + context.block - 1) / context.block, state_bytes = (blocks + 7) / 8;
    StateHeader said;
    if (bytes < sizeof said || bytes - sizeof said < state_bytes) return false;
    std::memcpy(&said, in, sizeof said);
    const unsigned char *states = in + sizeof said;
    if (said.block != context.block ||
        said.check != static_cast<std::uint32_t>(checksum(states, state_bytes, said.block)))
        return false;
    std::size_t at = sizeof said + state_bytes;
    std::vector<T> x(context.block);
    for (std::size_t i = 0; i < blocks; ++i) {
        const std::size_t n = std::min(context.block, count - i * context.block);
        std::size_t used = 0;
        if ((states[i / 8] >> i % 8 & 1) != 0) {
            T median;
            if (bytes - at < sizeof median) return false;
            std::memcpy(&median, in + at, sizeof median);
            std::fill_n(x.begin(), n, median);
            used = sizeof median;
        } else {
            used = read_block(context, in + at, bytes - at, n, x.data());
        }
        if (used == 0) return false;
        at += used;
        std::memcpy(out + i * context.block * sizeof(T), x.data(), n * sizeof(T));
    }
    return at == bytes;
}

void *create(const collpress_codec_config *config, collpress_codec_result *result) try {
    *result = COLLPRESS_CODEC_UNSUPPORTED;
    const bool known = config->dtype == COLLPRESS_FLOAT32 || config->dtype == COLLPRESS_FLOAT64;
    if (!known || !(config->abs_bound > 0) || !std::isfinite(config->abs_bound)) return nullptr;
    const auto block = static_cast<std::size_t>(Values(*config, parameters).whole(0));
    *result = COLLPRESS_CODEC_OK;
    const std::size_t scratch = code_bytes(block) + block * size_of(config->dtype) + kSlack;
    return new Context{config->dtype, config->abs_bound, block, std::vector<unsigned char>(scratch)};
} catch (const std::exception &) {
    *result = COLLPRESS_CODEC_FAILED; // no memory
    return nullptr;
}

void destroy(void *context) { delete static_cast<Context *>(context); }

std::size_t max_bytes(const void *opaque, std::size_t count) {
    const auto &context = *static_cast<const Context *>(opaque);
    const std::size_t blocks = (count + context.block - 1) / context.block;
    return sizeof(StreamHeader) + sizeof(StateHeader) + (blocks + 7) / 8 + blocks + count * size_of(context.dtype);
}

collpress_codec_result compress(void *opaque, const void *in, std::size_t count, void *out, std::size_t capacity,
                                std::size_t *out_bytes) try {
    auto &context = *static_cast<Context *>(opaque);
    const auto *from = static_cast<const unsigned char *>(in);
    return context.dtype == COLLPRESS_FLOAT32 ? compress_as<float>(context, from, count, out, capacity, out_bytes)
                                              : compress_as<double>(context, from, count, out, capacity, out_bytes);
} catch (const std::exception &) {
    return COLLPRESS_CODEC_FAILED; // no memory
}

collpress_codec_result decompress(void *opaque, const void *in, std::size_t bytes, void *out, std::size_t count) try {
    auto &context = *static_cast<Context *>(opaque);
    std::uint8_t flags = 0;
    if (!read_header(in, bytes, kMagic, context.dtype, count, context.bound, &flags) || flags != 0)
        return COLLPRESS_CODEC_BAD_STREAM;
    const auto *from = static_cast<const unsigned char *>(in) + sizeof(StreamHeader);
    auto *to = static_cast<unsigned char *>(out);
    const std::size_t rest = bytes - sizeof(StreamHeader);
    const bool good = context.dtype == COLLPRESS_FLOAT32 ? decompress_as<float>(context, from, rest, to, count)
                                                         : decompress_as<double>(context, from, rest, to, count);
    return good ? COLLPRESS_CODEC_OK : COLLPRESS_CODEC_BAD_STREAM;
} catch (const std::exception &) {
    return COLLPRESS_CODEC_FAILED; // no memory
}

double worst_error(const void *context, double) { return static_cast<const Context *>(context)->bound; }

constexpr collpress_codec_extras extras = only_parameters(parameters);
constexpr collpress_codec codec{COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT32) | COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT64),
                                1,
                                0,
                                create,
                                destroy,
                                max_bytes,
                                compress,
                                decompress,
                                worst_error,
                                &extras};
constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC,
                                    "SZx: constant blocks, or leading bits of differences from a median", &codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
