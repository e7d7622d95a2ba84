// topk: only the values of largest magnitude, each with its place; the others come back as zeros.
//
//   stream = StreamHeader, number of entries (64 bits), places (32 bits each, ascending), values
//
// A message of n values has max(1, density * n, rounded up) entries for finite values, and one for each NaN or
// infinity; of equal magnitudes the first ones go. Where that would be no shorter than the values themselves, the
// number of entries is all ones and all values follow. Messages of 2^32 values or more are refused
// (COLLPRESS_CODEC_BAD_INPUT).
//
// A. F. Aji, K. Heafield: Sparse Communication for Distributed Gradient Descent. EMNLP 2017, arXiv:1704.05021.
// With feedback (feedback.hpp) it is Y. Lin et al.: Deep Gradient Compression. ICLR 2018, arXiv:1712.01887, without its
// momentum.
#include "feedback.hpp"
#include "float_codec.hpp"
#include "quantise.hpp"

#include <array>

namespace {

using namespace collpress::codecs;

constexpr std::uint64_t kAll = ~std::uint64_t{0};

class TopK {
  public:
    static constexpr std::uint32_t magic = 0x4b4f5443; // "CTOK"
    static constexpr std::array parameters{
        number("density", "share of the values that are sent", 0.01, 1e-4, 1),
        kFeedbackParameter,
    };

    TopK(const Values &values, const collpress_codec_config &) : density_(values[0]), feedback_(values.chosen(1, 1)) {}

    void begin() { feedback_.begin(); }

    std::uint32_t settings() const { return 0; } // streams tell all there is to know
    std::size_t most(std::size_t count, std::size_t element) const { return sizeof kAll + count * element; }

    template <class T>
    collpress_codec_result encode(const unsigned char *in, std::size_t count, Writer &writer) {
        if (count > 0xffffffffu) return COLLPRESS_CODEC_BAD_INPUT;
        std::vector<T> &values = feedback_.owed<T>(in, count);
        pick(values);
        const bool all = picked_.size() * (sizeof(std::uint32_t) + sizeof(T)) >= count * sizeof(T);
        const std::uint64_t entries = all ? kAll : picked_.size();
        unsigned char *out = writer.take(
            sizeof entries + (all ? count * sizeof(T) : picked_.size() * (sizeof(std::uint32_t) + sizeof(T))));
        if (out == nullptr) return COLLPRESS_CODEC_SMALL_BUFFER;
        std::memcpy(out, &entries, sizeof entries);
        out += sizeof entries;
        if (all) {
            if (count != 0) std::memcpy(out, values.data(), count * sizeof(T));
            std::ranges::fill(values, T(0));
        } else {
            std::memcpy(out, picked_.data(), picked_.size() * sizeof(std::uint32_t));
            out += picked_.size() * sizeof(std::uint32_t);
            for (std::size_t i = 0; i < picked_.size(); ++i) {
                std::memcpy(out + i * sizeof(T), &values[picked_[i]], sizeof(T));
                values[picked_[i]] = 0;
            }
        }
        feedback_.keep<T>();
        return COLLPRESS_CODEC_OK;
    }

    template <class T>
    bool decode(Reader &reader, unsigned char *out, std::size_t count) {
        std::uint64_t entries = 0;
        if (!reader.get(entries)) return false;
        if (entries == kAll) {
            const unsigned char *const values = count <= reader.left() ? reader.take(count * sizeof(T)) : nullptr;
            if (values == nullptr) return false;
            if (count != 0) std::memcpy(out, values, count * sizeof(T));
            return true;
        }
        if (entries > count) return false;
        const unsigned char *const places = reader.take(entries * sizeof(std::uint32_t));
        if (places == nullptr) return false;
        const unsigned char *const values = reader.take(entries * sizeof(T));
        if (values == nullptr) return false;
        if (count != 0) std::memset(out, 0, count * sizeof(T));
        std::uint64_t next = 0;
        for (std::size_t i = 0; i < entries; ++i) {
            std::uint32_t place;
            std::memcpy(&place, places + i * sizeof place, sizeof place);
            if (place < next || place >= count) return false;
            std::memcpy(out + place * sizeof(T), values + i * sizeof(T), sizeof(T));
            next = std::uint64_t{place} + 1;
        }
        return true;
    }

    // Without feedback a value comes back exactly or as zero.
    //
    // With it, a value that is sent is off by what was owed of it. Let M be max_abs in all calls so far, n the number
    // of values, k >= density * n how many are sent, and A_j the mean of the j largest debts after a call. What is owed
    // grows by M a value and call, and the k largest debts are paid: those behind are the (k+1)-th to (k+j)-th, whose
    // mean is no more than that of the first k+j, so A_j <= A_{j+k} + M, where A_{j+k} is of the call before. After
    // (n-1)/k calls, rounded up, the set is all there is: A_1 <= A_n + (1/density + 1) M. And of all debts together at
    // least k/n are paid: the sum S becomes at most (1 - k/n)(S + nM), so A_n = S/n <= (1/density - 1) M. So no debt
    // exceeds 2M/density. Sums are rounded, by half an epsilon of it in each of as many calls.
    double worst_error(double max_abs, double epsilon) const {
        if (!feedback_.on()) return density_ < 1 ? max_abs : 0;
        return 2 * max_abs / density_ * (1 + 8 * epsilon / density_);
    }

  private:
    // The places of what is sent, ascending. A histogram of the magnitudes' leading bits tells in which bin the
    // smallest of them lies; only that bin is looked at more closely.
    template <class T>
    void pick(const std::vector<T> &values) {
        using Word = IntegerOf<T>;
        constexpr int below = 8 * sizeof(T) - 16; // bits that do not tell the bin
        constexpr Word infinite = std::bit_cast<Word>(std::numeric_limits<T>::infinity());
        const auto magnitude = [](T value) { return std::bit_cast<Word>(value) & kMagnitude<T>; };
        bins_.assign(kBins, 0);
        for (const T value : values) ++bins_[static_cast<std::size_t>(magnitude(value) >> below)];
        const auto first_infinite = static_cast<std::size_t>(infinite >> below);
        std::size_t finite = 0;
        for (std::size_t bin = 0; bin < first_infinite; ++bin) finite += bins_[bin];
        const auto wanted = static_cast<std::size_t>(std::ceil(density_ * static_cast<double>(values.size())));
        std::size_t missing = std::min(std::max<std::size_t>(wanted, 1), finite);
        std::size_t bin = first_infinite;
        while (missing > 0 && missing > bins_[--bin]) missing -= bins_[bin];
        Word least = infinite; // of what is sent
        std::size_t ties = 0;  // how many of just this magnitude
        if (missing > 0) {
            auto &close = std::get<std::vector<Word>>(close_);
            close.clear();
            for (const T value : values)
                if (static_cast<std::size_t>(magnitude(value) >> below) == bin) close.push_back(magnitude(value));
            const auto nth = close.begin() + static_cast<std::ptrdiff_t>(missing - 1);
            std::ranges::nth_element(close, nth, std::ranges::greater());
            least = *nth;
            const auto larger =
                std::ranges::count_if(close.begin(), nth, [least](Word other) { return other > least; });
            ties = missing - static_cast<std::size_t>(larger);
        }
        picked_.clear();
        for (std::size_t i = 0; i < values.size(); ++i) {
            const Word own = magnitude(values[i]);
            if (own < least) continue;
            if (own == least && own < infinite) {
                if (ties == 0) continue;
                --ties;
            }
            picked_.push_back(static_cast<std::uint32_t>(i));
        }
    }

    static constexpr std::size_t kBins = std::size_t{1} << 15;

    double density_;
    Feedback feedback_;
    std::vector<std::uint32_t> picked_;
    std::vector<std::size_t> bins_;
    std::tuple<std::vector<std::int32_t>, std::vector<std::int64_t>> close_; // magnitudes in the last bin
};

constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC,
                                    "the values of largest magnitude; what is left out may follow in later calls",
                                    &FloatCodec<TopK>::codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
