// Feeds codecs random values and damaged streams, in buffers of exactly the
// promised sizes, for sanitizers to watch.
//
//   fuzz SEED ROUNDS PLUGIN.so...        exit code 1 when a codec breaks its
//   promise
#include "../../native/src/codecs/deltapack_dense_format.hpp"
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

// The states of all symbols are made to fill the table again, too, and the last part of the chunk to reach its end.
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
        if (chunk.mode == dense::Mode::coded) {
            std::size_t end = mask + dense::kSymbols / 8;
            if (stream.size() < end) return;
            unsigned left = 1u << (chunk.table_bits & 15);
            std::size_t last = 0;
            for (std::size_t symbol = 0; symbol < dense::kSymbols; ++symbol) {
                if ((stream[mask + symbol / 8] >> symbol % 8 & 1) == 0) continue;
                std::uint16_t states;
                if (stream.size() < end + sizeof states) return;
                std::memcpy(&states, &stream[end], sizeof states);
                left -= states;
                last = end;
                end += sizeof states;
            }
            if (last != 0) {
                std::uint16_t states;
                std::memcpy(&states, &stream[last], sizeof states);
                states = static_cast<std::uint16_t>(states + left);
                std::memcpy(&stream[last], &states, sizeof states);
            }
            checked = end + (chunk.raw_blocks > 0 ? (blocks + 7) / 8 : 0);
            chunk.bytes = std::min<std::uint32_t>(chunk.bytes, static_cast<std::uint32_t>(stream.size() - at));
            const std::size_t fixed = checked - at + groups * 32 * chunk.low + 4ull * chunk.escapes;
            std::size_t raw = 0;
            for (std::size_t block = 0; block < blocks && checked <= stream.size() && chunk.raw_blocks > 0; ++block)
                if (stream[end + block / 8] >> block % 8 & 1)
                    raw += std::min(dense::kBlock, values - block * dense::kBlock) * element_bytes;
            if (fixed + raw + chunk.halves[0] <= chunk.bytes)
                chunk.halves[1] = static_cast<std::uint32_t>(chunk.bytes - fixed - raw - chunk.halves[0]);
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

bool round_trip(Random &random, const collpress_codec &codec, const std::string &name) {
    const std::uint32_t dtype = below(random, 2) == 0 ? COLLPRESS_FLOAT32 : COLLPRESS_FLOAT64;
    const std::size_t count = below(random, 10) == 0 ? below(random, 140000) : below(random, 1200);
    const Bytes values =
        dtype == COLLPRESS_FLOAT32 ? values_of<float>(random, count) : values_of<double>(random, count);
    const std::size_t row = below(random, 300), plane = row * below(random, 20);
    const collpress_codec_config config{dtype, std::exp2(uniform(random, -80, 70)), nullptr, row, plane, 0};
    collpress_codec_result result;
    std::unique_ptr<void, void (*)(void *)> context(codec.create(&config, &result), codec.destroy);
    if (context == nullptr) return std::fprintf(stderr, "%s: create: %d\n", name.c_str(), result), false;
    Bytes stream(codec.max_bytes(context.get(), count));
    std::size_t used = 0;
    result = codec.compress(context.get(), values.data(), count, stream.data(), stream.size(), &used);
    if (result != COLLPRESS_CODEC_OK || used > stream.size())
        return std::fprintf(stderr, "%s: compress: %d\n", name.c_str(), result), false;
    stream.resize(used);
    stream.shrink_to_fit();
    Bytes small(below(random, used)), back(values.size());
    std::size_t unused = 0;
    if (codec.compress(context.get(), values.data(), count, small.data(), small.size(), &unused) == COLLPRESS_CODEC_OK)
        return std::fprintf(stderr, "%s: wrote %zu bytes into %zu\n", name.c_str(), unused, small.size()), false;
    result = codec.decompress(context.get(), stream.data(), stream.size(), back.data(), count);
    if (result != COLLPRESS_CODEC_OK) return std::fprintf(stderr, "%s: decompress: %d\n", name.c_str(), result), false;
    if (codec.takes_bound != 0 && !(dtype == COLLPRESS_FLOAT32 ? within<float>(values, back, config.abs_bound)
                                                               : within<double>(values, back, config.abs_bound)))
        return std::fprintf(stderr, "%s: bound broken\n", name.c_str()), false;
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
