// Feeds codecs random values and damaged streams, in buffers of exactly the
// promised sizes, for sanitizers to watch.
//
//   fuzz SEED ROUNDS PLUGIN.so...        exit code 1 when a codec breaks its
//   promise
#include "../../native/src/codecs/deltapack_dense_codes.hpp"
#include "../../native/src/codecs/deltapack_format.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace collpress::codecs;
using Bytes = std::vector<unsigned char>;
using Random = std::mt19937_64;

double uniform(Random &random, double low, double high) { return std::uniform_real_distribution(low, high)(random); }
std::size_t below(Random &random, std::size_t n) { return n == 0 ? 0 : random() % n; }

template <class T>
Bytes values_of(Random &random, std::size_t count) {
    Bytes bytes(count * sizeof(T));
    const int kind = static_cast<int>(below(random, 5));
    const double scale = std::exp2(uniform(random, -60, 60)), wildness = uniform(random, 0, 20);
    double walk = 0;
    for (std::size_t i = 0; i < count; ++i) {
        walk += uniform(random, -1, 1) * std::exp2(-uniform(random, 0, wildness));
        T x = static_cast<T>(walk * scale);
        if (kind == 1) x = static_cast<T>(scale);
        if (kind == 2 && below(random, 100) == 0) x = std::numeric_limits<T>::quiet_NaN();
        if (kind == 3 && below(random, 300) == 0) x = std::numeric_limits<T>::infinity();
        if (kind == 4) {
            const std::uint64_t bits = random();
            std::memcpy(&x, &bits, sizeof x);
        }
        std::memcpy(&bytes[i * sizeof x], &x, sizeof x);
    }
    return bytes;
}

template <class T>
bool within(const Bytes &a, const Bytes &b, double bound) {
    for (std::size_t at = 0; at < a.size(); at += sizeof(T)) {
        T x, y;
        std::memcpy(&x, &a[at], sizeof x);
        std::memcpy(&y, &b[at], sizeof y);
        if (std::isnan(x)   ? !std::isnan(y)
            : std::isinf(x) ? x != y
                            : !(std::abs(static_cast<long double>(x) - y) <= bound)) {
            std::fprintf(stderr, "[%zu] %.17g became %.17g, bound %.17g\n", at / sizeof(T), double(x), double(y),
                         bound);
            return false;
        }
    }
    return true;
}

template <class T>
double largest(const Bytes &values) { // of the finite ones
    double most = 0;
    for (std::size_t at = 0; at < values.size(); at += sizeof(T)) {
        T x;
        std::memcpy(&x, &values[at], sizeof x);
        if (std::isfinite(x)) most = std::max(most, double(std::abs(x)));
    }
    return most;
}

std::string text(const std::vector<double> &parameters) {
    std::string all;
    for (const double value : parameters) all += " " + std::to_string(value);
    return all;
}

// Checksums inside the streams of other codecs: of chunks of bytes, of szx's states, of float-ans's tables.
void mend_inside(Bytes &stream, const StreamHeader &header) {
    unsigned char *inside = stream.data() + sizeof header;
    const std::size_t left = stream.size() - sizeof header;
    std::uint32_t word[3] = {};
    const std::string magic(reinterpret_cast<const char *>(&header.magic), sizeof header.magic);
    if (magic == "CZS1" || magic == "CL41" || magic == "CB21") {
        if (left < 8) return;
        const auto check = static_cast<std::uint32_t>(checksum(inside, 4, sizeof header));
        std::memcpy(inside + 4, &check, sizeof check);
    } else if (magic == "SZX1") {
        if (left < 8) return;
        std::memcpy(word, inside, 4);
        const std::size_t states = word[0] == 0 ? 0 : ((header.count + word[0] - 1) / word[0] + 7) / 8;
        if (left - 8 < states) return;
        const auto check = static_cast<std::uint32_t>(checksum(inside + 8, states, word[0]));
        std::memcpy(inside + 4, &check, sizeof check);
    } else if (magic == "CFA1") {
        for (std::size_t at = 0; at + 12 <= left; at += std::max<std::size_t>(word[0], 12)) {
            std::memcpy(word, inside + at, 12);
            if (word[1] > 256 || left - at - 12 < 4 * std::size_t{word[1]}) return;
            word[2] = static_cast<std::uint32_t>(checksum(inside + at + 12, 4 * word[1], checksum(word, 8, 2)));
            std::memcpy(inside + at, word, 12);
        }
    }
}

void mend_deltapack(Bytes &stream, std::size_t count, std::size_t element_bytes) {
    std::size_t at = sizeof(StreamHeader);
    for (std::size_t done = 0; done < count; done += deltapack::kChunk) {
        const std::size_t values = std::min<std::size_t>(deltapack::kChunk, count - done);
        const std::size_t blocks = (values + deltapack::kBlock - 1) / deltapack::kBlock;
        deltapack::ChunkHeader chunk;
        if (stream.size() < at + sizeof chunk + blocks) return;
        std::memcpy(&chunk, &stream[at], sizeof chunk);
        const unsigned char *widths = &stream[at + sizeof chunk];
        std::size_t bytes = sizeof chunk + blocks;
        for (std::size_t block = 0; block < blocks; ++block)
            bytes += widths[block] == deltapack::kRaw
                         ? std::min(deltapack::kBlock, values - block * deltapack::kBlock) * element_bytes
                         : 32 * std::size_t{widths[block]};
        chunk.bytes = static_cast<std::uint32_t>(bytes);
        chunk.check = deltapack::chunk_check(chunk, widths, blocks);
        std::memcpy(&stream[at], &chunk, sizeof chunk);
        at += bytes;
    }
}

// Makes the lengths of codes use up all codes again, where that is possible.
void mend_lengths(unsigned char *bytes) {
    std::uint32_t sum = 0;
    for (std::size_t symbol = 0; symbol < dense::kSymbols; ++symbol) {
        unsigned char &pair = bytes[symbol / 2];
        unsigned length = std::min<unsigned>(pair >> 4 * (symbol % 2) & 15, dense::kLongest);
        while (length > 0 && sum + dense::share_of(length) > dense::kCodes)
            length = (length + 1) % (dense::kLongest + 1);
        if (symbol + 1 == dense::kSymbols && sum < dense::kCodes && std::has_single_bit(dense::kCodes - sum))
            length = dense::kLongest + 1 - static_cast<unsigned>(std::bit_width(dense::kCodes - sum));
        sum += dense::share_of(length);
        const unsigned shift = 4 * (symbol % 2);
        pair = static_cast<unsigned char>((pair & ~(15u << shift)) | length << shift);
    }
}

// Makes the states of all symbols fill the table at `end` again, and moves `end` behind it; false where it is cut off.
bool mend_states(Bytes &stream, std::size_t &end, unsigned table_bits) {
    const std::size_t mask = end;
    end += dense::kSymbols / 8;
    if (stream.size() < end) return false;
    unsigned left = 1u << (table_bits & 15);
    std::size_t last = 0;
    std::uint16_t states = 0;
    for (std::size_t symbol = 0; symbol < dense::kSymbols; ++symbol) {
        if ((stream[mask + symbol / 8] >> symbol % 8 & 1) == 0) continue;
        if (stream.size() < end + sizeof states) return false;
        std::memcpy(&states, &stream[end], sizeof states);
        left -= states;
        last = end;
        end += sizeof states;
    }
    if (last == 0) return true;
    states = static_cast<std::uint16_t>(states + left);
    std::memcpy(&stream[last], &states, sizeof states);
    return true;
}

// Tables are mended, too, and the chunk's first part has what the others leave.
void mend_dense(Bytes &stream, std::size_t count, std::size_t element_bytes) {
    std::size_t at = sizeof(StreamHeader);
    for (std::size_t done = 0; done < count; done += dense::kChunk) {
        const std::size_t values = std::min<std::size_t>(dense::kChunk, count - done);
        const std::size_t groups = (values + dense::kGroup - 1) / dense::kGroup;
        const std::size_t blocks = (values + dense::kBlock - 1) / dense::kBlock;
        dense::ChunkHeader chunk;
        if (stream.size() < at + sizeof chunk) return;
        std::memcpy(&chunk, &stream[at], sizeof chunk);
        const std::size_t rest = at + sizeof chunk, mask = rest + chunk.bands * sizeof(dense::Predictor);
        std::size_t checked = rest, bytes = sizeof chunk + values * element_bytes;
        if (chunk.mode != dense::Mode::raw) {
            std::size_t end = mask;
            if (chunk.mode == dense::Mode::codes) {
                end += dense::kSymbols / 2;
                if (stream.size() < end) return;
                mend_lengths(&stream[mask]);
            } else if (!mend_states(stream, end, chunk.table_bits)) {
                return;
            }
            checked = end + (chunk.raw_blocks > 0 ? (blocks + 7) / 8 : 0);
            chunk.bytes = std::min<std::uint32_t>(chunk.bytes, static_cast<std::uint32_t>(stream.size() - at));
            const std::size_t fixed = checked - at + groups * 32 * chunk.low + 4ull * chunk.escapes;
            std::size_t raw = 0;
            for (std::size_t block = 0; block < blocks && checked <= stream.size() && chunk.raw_blocks > 0; ++block)
                if (stream[end + block / 8] >> block % 8 & 1)
                    raw += std::min(dense::kBlock, values - block * dense::kBlock) * element_bytes;
            const std::size_t others = fixed + raw + chunk.parts[1] + chunk.parts[2] + std::size_t{chunk.parts[3]};
            if (others <= chunk.bytes) chunk.parts[0] = static_cast<std::uint32_t>(chunk.bytes - others);
            bytes = chunk.bytes;
        }
        if (checked > stream.size()) return;
        chunk.bytes = static_cast<std::uint32_t>(bytes);
        chunk.check = dense::chunk_check(chunk, stream.data() + rest, checked - rest);
        std::memcpy(&stream[at], &chunk, sizeof chunk);
        at += bytes;
    }
}

// Makes the checksums right again, so that damage reaches what lies behind
// them.
void mend(Bytes &stream, std::size_t element_bytes) {
    if (stream.size() < sizeof(StreamHeader)) return;
    StreamHeader header;
    std::memcpy(&header, stream.data(), sizeof header);
    header.check = header_check(header);
    std::memcpy(stream.data(), &header, sizeof header);
    mend_inside(stream, header);
    if (header.magic == deltapack::kMagic) mend_deltapack(stream, header.count, element_bytes);
    if (header.magic == dense::kMagic) mend_dense(stream, header.count, element_bytes);
}

void damage(Random &random, Bytes &stream) {
    for (std::size_t n = 1 + below(random, 4); n > 0; --n) {
        switch (below(random, 4)) {
        case 0:
            stream.resize(below(random, stream.size() + 1));
            break;
        case 1:
            stream.resize(stream.size() + below(random, 300), static_cast<unsigned char>(random()));
            break;
        case 2:
            if (!stream.empty()) stream[below(random, stream.size())] = static_cast<unsigned char>(random());
            break;
        default: // near the beginning, where the structure is
            if (!stream.empty())
                stream[below(random, std::min<std::size_t>(stream.size(), 400))] ^= 1u << below(random, 8);
        }
    }
}

// Usual, or anything that is allowed.
std::vector<double> parameters_of(Random &random, const collpress_codec &codec) {
    std::vector<double> values;
    const bool usual = below(random, 3) == 0;
    for (std::uint32_t i = 0; codec.extras != nullptr && i < codec.extras->parameter_count; ++i) {
        const collpress_codec_parameter &parameter = codec.extras->parameters[i];
        const std::string choices = parameter.choices == nullptr ? "" : parameter.choices;
        double value = parameter.usual;
        if (!usual && !choices.empty())
            value = double(below(random, 1 + std::size_t(std::count(choices.begin(), choices.end(), '|'))));
        if (!usual && choices.empty())
            value = below(random, 2) == 0 ? std::min(parameter.least + double(below(random, 300)), parameter.most)
                                          : uniform(random, parameter.least, parameter.most);
        if (parameter.whole != 0) value = std::floor(value);
        if (parameter.whole != 0 && below(random, 2) == 0) // some must be powers of two
            value = std::max(std::exp2(std::floor(std::log2(std::max(value, 1.0)))), parameter.least);
        values.push_back(value);
    }
    return values;
}

// The bound that was asked for, or the one that the codec states itself.
bool bound_holds(const collpress_codec &codec, const void *context, const collpress_codec_config &config,
                 const Bytes &values, const Bytes &back) {
    if (size_of(config.dtype) < 4) return true; // lossless ones only
    const bool single = config.dtype == COLLPRESS_FLOAT32;
    const double most = single ? largest<float>(values) : largest<double>(values);
    const double bound = codec.takes_bound != 0 ? config.abs_bound : codec.worst_error(context, most);
    return !std::isfinite(bound) || (single ? within<float>(values, back, bound) : within<double>(values, back, bound));
}

bool round_trip(Random &random, const collpress_codec &codec, const std::string &name) {
    std::uint32_t dtype = COLLPRESS_FLOAT32;
    for (const std::uint32_t other : {COLLPRESS_FLOAT64, COLLPRESS_FLOAT16, COLLPRESS_BFLOAT16})
        if ((codec.dtypes & COLLPRESS_DTYPE_BIT(other)) != 0 && below(random, 3) == 0) dtype = other;
    const std::size_t count = below(random, 10) == 0 ? below(random, 140000) : below(random, 1200);
    Bytes values = dtype == COLLPRESS_FLOAT64 ? values_of<double>(random, count) : values_of<float>(random, count);
    if (size_of(dtype) == 2) { // the upper halves
        for (std::size_t i = 0; i < values.size(); i += 4) std::memcpy(&values[i / 2], &values[i + 2], 2);
        values.resize(2 * count);
    }
    const std::vector<double> parameters = parameters_of(random, codec);
    const std::size_t row = below(random, 3) * below(random, 40);
    const std::size_t plane = below(random, 2) * row * below(random, 9);
    const auto rank = static_cast<std::uint32_t>(below(random, 3));
    const double *given = parameters.empty() ? nullptr : parameters.data();
    const collpress_codec_config config{dtype, std::exp2(uniform(random, -80, 70)), given, row, plane, rank};
    collpress_codec_result result;
    std::unique_ptr<void, void (*)(void *)> context(codec.create(&config, &result), codec.destroy);
    if (context == nullptr && result == COLLPRESS_CODEC_UNSUPPORTED && !parameters.empty()) return true;
    if (context == nullptr) return std::fprintf(stderr, "%s: create: %d\n", name.c_str(), result), false;
    Bytes stream(codec.max_bytes(context.get(), count)), back(values.size());
    std::size_t used = 0;
    const bool remembers = codec.extras != nullptr && codec.extras->begin != nullptr;
    for (std::size_t calls = remembers ? below(random, 4) : 0; calls > 0; --calls) { // something to remember
        codec.extras->begin(context.get());
        if (calls == 1) break;
        result = codec.compress(context.get(), values.data(), count, stream.data(), stream.size(), &used);
        if (result == COLLPRESS_CODEC_OK)
            result = codec.decompress(context.get(), stream.data(), used, back.data(), count);
        if (result != COLLPRESS_CODEC_OK) return std::fprintf(stderr, "%s: before: %d\n", name.c_str(), result), false;
    }
    result = codec.compress(context.get(), values.data(), count, stream.data(), stream.size(), &used);
    if (result != COLLPRESS_CODEC_OK || used > stream.size())
        return std::fprintf(stderr, "%s: compress: %d\n", name.c_str(), result), false;
    stream.resize(used);
    stream.shrink_to_fit();
    Bytes small(below(random, used));
    std::size_t unused = 0;
    result = codec.compress(context.get(), values.data(), count, small.data(), small.size(), &unused);
    if (result == COLLPRESS_CODEC_OK && (!remembers || unused > small.size())) // what remembers may find less to say
        return std::fprintf(stderr, "%s: wrote %zu bytes into %zu\n", name.c_str(), unused, small.size()), false;
    result = codec.decompress(context.get(), stream.data(), stream.size(), back.data(), count);
    if (result != COLLPRESS_CODEC_OK) return std::fprintf(stderr, "%s: decompress: %d\n", name.c_str(), result), false;
    if (codec.lossless != 0 && back != values) return std::fprintf(stderr, "%s: bits lost\n", name.c_str()), false;
    if (!bound_holds(codec, context.get(), config, values, back))
        return std::fprintf(stderr, "%s: bound broken%s\n", name.c_str(), text(parameters).c_str()), false;
    for (int i = 0; i < 4; ++i) {
        Bytes broken = stream;
        damage(random, broken);
        if (below(random, 4) != 0) mend(broken, size_of(dtype));
        broken.shrink_to_fit();
        const Bytes exact(broken.begin(), broken.end());
        codec.decompress(context.get(), exact.data(), exact.size(), back.data(), count);
        if (codec.extras == nullptr) continue;
        if (codec.extras->accumulate != nullptr)
            codec.extras->accumulate(context.get(), exact.data(), exact.size(), back.data(), count);
        if (codec.extras->add == nullptr) continue;
        Bytes sum(codec.max_bytes(context.get(), count) - below(random, 2) * below(random, count));
        const Bytes &other = below(random, 2) == 0 ? stream : exact;
        codec.extras->add(context.get(), exact.data(), exact.size(), other.data(), other.size(), count, sum.data(),
                          sum.size(), &unused);
    }
    return true;
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    Random random(std::strtoull(argv[1], nullptr, 10));
    for (int i = 3; i < argc; ++i) {
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 2;
        const auto entry = reinterpret_cast<const collpress_plugin_t *(*)()>(dlsym(library, "collpress_plugin"));
        const auto &codec = *static_cast<const collpress_codec *>(entry()->interface);
        for (long round = std::strtol(argv[2], nullptr, 10); round > 0; --round)
            if (!round_trip(random, codec, argv[i])) return 1;
    }
    std::puts("ok");
    return 0;
}
