// Feeds codecs random values and damaged streams, in buffers of exactly the
// promised sizes, for sanitizers to watch.
//
//   fuzz SEED ROUNDS PLUGIN.so...        exit code 1 when a codec breaks its
//   promise
#include "fuzz_mending.hpp"

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
