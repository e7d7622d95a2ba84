// libFuzzer's entry for one codec, which is linked in: streams that are given, or made nearly right, are decompressed,
// and values are compressed and decompressed.
//
// An input: what to do (2 bits), dtype (2 bits), count (16 bits), a byte for each parameter of the codec, a byte for
// the bound, then the stream or the values. Memory errors are the sanitizers' to find; a bound that is broken is found
// here.
#include "fuzz_mending.hpp"

#include "collpress/codec.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

extern "C" const collpress_plugin_t *collpress_plugin(void);

namespace {

using namespace collpress::codecs;

enum class Task { as_it_is, mended, with_a_right_header, round_trip };

class Input {
  public:
    Input(const unsigned char *data, std::size_t size) : at_(data), left_(size) {}

    unsigned byte() {
        if (left_ == 0) return 0;
        --left_;
        return *at_++;
    }
    Bytes rest() const { return {at_, at_ + left_}; }

  private:
    const unsigned char *at_;
    std::size_t left_;
};

std::vector<double> parameters_from(Input &input, const collpress_codec &codec) {
    std::vector<double> values;
    for (std::uint32_t i = 0; codec.extras != nullptr && i < codec.extras->parameter_count; ++i) {
        const collpress_codec_parameter &p = codec.extras->parameters[i];
        const unsigned byte = input.byte();
        if (byte == 0) { // usual: seeds have zeros here
            values.push_back(p.usual);
        } else if (p.choices != nullptr) {
            const std::string words = p.choices;
            values.push_back(double(byte % (1 + std::count(words.begin(), words.end(), '|'))));
        } else {
            const double value = std::min(p.least * std::exp2(byte % 24), p.most);
            values.push_back(p.whole != 0 ? std::floor(value) : value);
        }
    }
    return values;
}

[[noreturn]] void found(const char *what) {
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

// The header of a stream that the codec makes of as many zeros.
void put_right_header(const collpress_codec &codec, void *context, std::size_t count, std::size_t element_bytes,
                      Bytes &stream) {
    const Bytes zeros(count * element_bytes);
    Bytes right(codec.max_bytes(context, count));
    std::size_t used = 0;
    if (codec.compress(context, zeros.data(), count, right.data(), right.size(), &used) != COLLPRESS_CODEC_OK) return;
    const std::size_t header = std::min<std::size_t>(used, sizeof(StreamHeader));
    if (stream.size() < header) stream.resize(header);
    std::memcpy(stream.data(), right.data(), header);
}

void decompress(const collpress_codec &codec, void *context, const Bytes &stream, std::size_t count,
                std::size_t element_bytes) {
    Bytes back(count * element_bytes); // exactly as long: what is written beyond it is seen
    if (codec.decompress(context, stream.data(), stream.size(), back.data(), count) != COLLPRESS_CODEC_OK) return;
    if (codec.extras == nullptr) return;
    if (codec.extras->accumulate != nullptr)
        codec.extras->accumulate(context, stream.data(), stream.size(), back.data(), count);
    if (codec.extras->add != nullptr) {
        Bytes sum(codec.max_bytes(context, count));
        std::size_t used = 0;
        codec.extras->add(context, stream.data(), stream.size(), stream.data(), stream.size(), count, sum.data(),
                          sum.size(), &used);
    }
}

template <class T>
bool within(const Bytes &values, const Bytes &back, double bound) {
    for (std::size_t at = 0; at < values.size(); at += sizeof(T)) {
        T x, y;
        std::memcpy(&x, &values[at], sizeof x);
        std::memcpy(&y, &back[at], sizeof y);
        if (std::isnan(x)   ? !std::isnan(y)
            : std::isinf(x) ? x != y
                            : !(std::abs(static_cast<long double>(x) - y) <= bound))
            return false;
    }
    return true;
}

void round_trip(const collpress_codec &codec, void *context, const collpress_codec_config &config, Bytes values) {
    const std::size_t element_bytes = size_of(config.dtype);
    const std::size_t count = values.size() / element_bytes;
    values.resize(count * element_bytes);
    Bytes stream(codec.max_bytes(context, count)), back(values.size());
    std::size_t used = 0;
    if (codec.compress(context, values.data(), count, stream.data(), stream.size(), &used) != COLLPRESS_CODEC_OK)
        found("a buffer of max_bytes() was refused");
    const Bytes exact(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(used));
    if (codec.decompress(context, exact.data(), exact.size(), back.data(), count) != COLLPRESS_CODEC_OK)
        found("a codec cannot read its own stream");
    if (codec.lossless != 0 && back != values) found("bits are lost");
    if (codec.takes_bound != 0 && !(config.dtype == COLLPRESS_FLOAT32 ? within<float>(values, back, config.abs_bound)
                                                                      : within<double>(values, back, config.abs_bound)))
        found("the bound is broken");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
    const auto &codec = *static_cast<const collpress_codec *>(collpress_plugin()->interface);
    Input input(data, size);
    const unsigned what = input.byte();
    const std::uint32_t dtypes[] = {COLLPRESS_FLOAT32, COLLPRESS_FLOAT64, COLLPRESS_FLOAT16, COLLPRESS_BFLOAT16};
    const std::uint32_t dtype = dtypes[(what >> 2) % 4];
    if ((codec.dtypes & COLLPRESS_DTYPE_BIT(dtype)) == 0) return -1;
    std::size_t count = input.byte();
    count |= std::size_t{input.byte()} << 8;
    const std::vector<double> parameters = parameters_from(input, codec);
    const double bound = std::exp2(static_cast<int>(input.byte()) - 128);
    const collpress_codec_config config{dtype, bound, parameters.empty() ? nullptr : parameters.data(), 0, 0, 0};
    collpress_codec_result result;
    const std::unique_ptr<void, void (*)(void *)> context(codec.create(&config, &result), codec.destroy);
    if (context == nullptr) return -1;
    Bytes rest = input.rest();
    switch (static_cast<Task>(what % 4)) {
    case Task::round_trip:
        round_trip(codec, context.get(), config, std::move(rest));
        return 0;
    case Task::with_a_right_header:
        put_right_header(codec, context.get(), count, size_of(dtype), rest);
        [[fallthrough]];
    case Task::mended:
        mend(rest, size_of(dtype));
        [[fallthrough]];
    case Task::as_it_is:
        decompress(codec, context.get(), rest, count, size_of(dtype));
    }
    return 0;
}
