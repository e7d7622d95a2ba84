// sign: one bit a value and the mean magnitude of its group: x' = mean|x| * sign(x).
//
//   stream = StreamHeader, group ...      group = mean (of the values' type), a bit a value, the first in the lowest;
//   1:
//                                         negative
//
// A group with NaN or infinities (or whose magnitudes have no finite sum) has NaN for a mean, and its values follow as
// they are.
//
// J. Bernstein et al.: signSGD: Compressed Optimisation for Non-Convex Problems. ICML 2018, arXiv:1802.04434; the mean
// as scale, and feedback (feedback.hpp): Karimireddy et al., arXiv:1901.09847, section 4. H. Tang et al.: 1-bit Adam.
// ICML 2021, arXiv:2102.02888, compresses its momentum so.
#include "feedback.hpp"
#include "float_codec.hpp"

#include <array>

namespace {

using namespace collpress::codecs;

constexpr std::size_t kLanes = 8;

class Sign {
  public:
    static constexpr std::uint32_t magic = 0x4e475343; // "CSGN"
    static constexpr std::array parameters{
        whole("group", "values that share a magnitude", 4096, 32, 65536),
        kFeedbackParameter,
    };

    Sign(const Values &values, const collpress_codec_config &)
        : group_(values.whole(0)), feedback_(values.chosen(1, 1)) {}

    void begin() { feedback_.begin(); }

    std::uint32_t settings() const { return static_cast<std::uint32_t>(group_); }
    std::size_t most(std::size_t count, std::size_t element) const {
        return (count / group_ + (count % group_ != 0 ? 1 : 0) + count) * element;
    }

    template <class T>
    [[gnu::always_inline]] collpress_codec_result encode(const unsigned char *in, std::size_t count, Writer &writer) {
        std::vector<T> &values = feedback_.owed<T>(in, count);
        for (std::size_t at = 0; at < count; at += group_) {
            const std::size_t size = std::min(group_, count - at);
            T *const x = values.data() + at;
            T mean = mean_magnitude(x, size);
            const std::size_t bytes = std::isnan(mean) ? size * sizeof(T) : (size + 7) / 8;
            unsigned char *const out = writer.take(sizeof mean + bytes);
            if (out == nullptr) return COLLPRESS_CODEC_SMALL_BUFFER;
            std::memcpy(out, &mean, sizeof mean);
            if (std::isnan(mean)) {
                std::memcpy(out + sizeof mean, x, bytes);
                std::fill_n(x, size, T(0));
            } else {
                write_signs(x, size, out + sizeof mean);
                for (std::size_t i = 0; feedback_.on() && i < size; ++i) x[i] -= std::copysign(mean, x[i]);
            }
        }
        feedback_.keep<T>();
        return COLLPRESS_CODEC_OK;
    }

    template <class T>
    [[gnu::always_inline]] bool decode(Reader &reader, unsigned char *out, std::size_t count) {
        for (std::size_t at = 0; at < count; at += group_) {
            const std::size_t size = std::min(group_, count - at);
            T mean;
            if (!reader.get(mean)) return false;
            const std::size_t bytes = std::isnan(mean) ? size * sizeof(T) : (size + 7) / 8;
            const unsigned char *const in = reader.take(bytes);
            if (in == nullptr) return false;
            if (std::isnan(mean))
                std::memcpy(out + at * sizeof(T), in, bytes);
            else
                read_signs(in, size, mean, out + at * sizeof(T));
        }
        return true;
    }

    // Without feedback both |x| and the mean are from 0 to max_abs, and their signs agree.
    //
    // With it, let V be the largest magnitude that is owed in a group of n, max_abs included. The mean is V/n at least,
    // and (n-1)/n V + |x|/n at most, of any x in the group; so ||x| - mean| <= (1 - 1/n) V, and V <= (1 - 1/n) V +
    // max_abs of the call after: no more than n max_abs. The mean is no more than V. Differences are rounded, by half
    // an epsilon of V in each of n calls.
    double worst_error(double max_abs, double epsilon) const {
        if (!feedback_.on()) return max_abs;
        const auto n = static_cast<double>(group_);
        return (n + 1) * max_abs * (1 + 8 * n * epsilon);
    }

  private:
    // NaN where there is none. The order of the additions is fixed, for all machines.
    template <class T>
    [[gnu::always_inline]] static T mean_magnitude(const T *x, std::size_t size) {
        std::array<double, kLanes> sums{};
        T largest = 0;
        std::size_t i = 0;
        for (; i + kLanes <= size; i += kLanes)
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const T magnitude = std::abs(x[i + lane]);
                sums[lane] += static_cast<double>(magnitude);
                largest = magnitude > largest ? magnitude : largest;
            }
        for (; i < size; ++i) {
            sums[i % kLanes] += static_cast<double>(std::abs(x[i]));
            largest = std::abs(x[i]) > largest ? std::abs(x[i]) : largest;
        }
        double sum = 0;
        for (const double part : sums) sum += part;
        if (!std::isfinite(sum)) return std::numeric_limits<T>::quiet_NaN();
        return std::min(static_cast<T>(sum / static_cast<double>(size)), largest); // rounding must not lift it above
    }

    template <class T>
    [[gnu::always_inline]] static void write_signs(const T *x, std::size_t size, unsigned char *out) {
        const std::size_t whole = size / 8;
        for (std::size_t byte = 0; byte < whole; ++byte) {
            unsigned bits = 0;
            for (unsigned i = 0; i < 8; ++i) bits |= (std::signbit(x[8 * byte + i]) ? 1u : 0u) << i;
            out[byte] = static_cast<unsigned char>(bits);
        }
        if (size % 8 == 0) return;
        unsigned bits = 0;
        for (std::size_t i = 8 * whole; i < size; ++i) bits |= (std::signbit(x[i]) ? 1u : 0u) << (i % 8);
        out[whole] = static_cast<unsigned char>(bits);
    }

    template <class T>
    [[gnu::always_inline]] static void read_signs(const unsigned char *in, std::size_t size, T mean,
                                                  unsigned char *out) {
        using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        const auto positive = std::bit_cast<Word>(mean);
        std::array<Word, 8> eight;
        for (std::size_t byte = 0; byte < (size + 7) / 8; ++byte) {
            const Word bits = static_cast<Word>(in[byte]) << (8 * sizeof(Word) - 8); // the last value's on top
            for (unsigned i = 0; i < 8; ++i) eight[i] = positive ^ ((bits << (7 - i)) & ~(~Word{0} >> 1));
            std::memcpy(out + 8 * byte * sizeof(T), eight.data(),
                        std::min<std::size_t>(8, size - 8 * byte) * sizeof(T));
        }
    }

    std::size_t group_;
    Feedback feedback_;
};

constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC,
                                    "a sign for each value and a mean magnitude for each group; what that loses may "
                                    "follow in later calls",
                                    &FloatCodec<Sign>::codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
