// sdp4bit: the two schemes of SDP4Bit for sharded data parallelism, as far as a codec can hold them.
//
// J. Jia et al.: SDP4Bit: Toward 4-bit Communication Quantization in Sharded Data Parallelism for LLM Training.
// NeurIPS 2024, arXiv:2410.15526: weight differences in section 3.1, gradients on two levels in 3.2. All groups are
// symmetric (quantise.hpp); their tails may have any length. Its kernels draw from the clock; here equal seeds and data
// give equal streams.
//
// gradient: Hadamard blocks of 32, then, within a node, 8 bits in groups of 512, between nodes 4 bits in groups of 128;
// the paper transforms before the first level and back behind the last, which is the same for a sum, being linear.
//
// weight_difference: 4 bits in groups of 2048 of what the message is above the receivers' replica of it, that is, what
// it decoded to in the call before. The n-th compression of a call continues the n-th of the calls before if it has as
// many values; else, and in the first call, the replica is zero. A stream says whose it is, which of the call, and how
// often it was continued; a decoder keeps a replica for each sender and place, in whatever order streams arrive. It
// refuses a stream whose replica it has not (COLLPRESS_CODEC_BAD_STREAM): all receivers must see every call's stream,
// once or more often. Before the first begin() nothing is kept, and every message stands for itself.
//
//   stream = StreamHeader, [Place,] groups
#include "group_codec.hpp"

#include <array>
#include <map>
#include <utility>

namespace {

using namespace collpress::codecs;

struct Place {
    std::uint32_t rank;
    std::uint32_t nth;   // compression of its call
    std::uint64_t round; // 0: the replica is zero
};
constexpr std::uint32_t kAlone = 0xffffffff; // nth of a stream that nothing will continue

template <class T>
struct Replica {
    std::uint64_t round = 0;
    std::uint64_t stream = 0; // checksum of the groups that made it
    std::vector<T> values;
};

template <class T>
using Replicas = std::map<std::pair<std::uint32_t, std::uint32_t>, Replica<T>>; // by rank and nth

class Sdp4bit {
  public:
    static constexpr std::uint32_t magic = 0x34445343; // "CSD4"
    static constexpr std::array parameters{
        choice("of", "what the messages are", "gradient|weight_difference"),
        choice("level", "of gradients: 8 bits within a node, or 4 bits between nodes", "intra|inter", 1),
        choice("rounding", kRoundingSummary, "nearest|stochastic", 1),
        kSeedParameter,
    };

    Sdp4bit(const Values &values, const collpress_codec_config &config)
        : rank_(config.rank), differences_(values.chosen(0, 1)), intra_(!differences_ && values.chosen(1, 0)),
          grouping_{differences_ ? 2048u
                    : intra_     ? 512u
                                 : 128u,
                    false, values.chosen(2, 1), rank_key(static_cast<std::uint64_t>(values.whole(3)), config.rank),
                    differences_ ? 0u : 32u},
          within_(grouping_), between_(grouping_) {}

    void begin() {
        begun_ = true;
        nth_ = 0;
    }

    std::uint32_t settings() const { return group_settings(grouping_) | (intra_ ? 1u << 17 : 0); }

    std::size_t most(std::size_t count, std::size_t element) const {
        return (differences_ ? sizeof(Place) : 0) + between_.most(count, element);
    }

    template <class T>
    [[gnu::always_inline]] collpress_codec_result encode(const unsigned char *in, std::size_t count, Writer &writer) {
        if (intra_) return within_.encode<T>(in, nullptr, count, writer);
        if (!differences_) return between_.encode<T>(in, nullptr, count, writer);
        Place place{rank_, begun_ ? nth_ : kAlone, 0};
        const T *base = nullptr;
        if (begun_) {
            const auto known = replicas<T>().find({rank_, nth_});
            if (known != replicas<T>().end() && known->second.values.size() == count) {
                base = known->second.values.data();
                place.round = known->second.round + 1;
            }
        }
        unsigned char *const head = writer.take(sizeof place);
        if (head == nullptr) return COLLPRESS_CODEC_SMALL_BUFFER;
        std::memcpy(head, &place, sizeof place);
        const std::size_t before = writer.used();
        const collpress_codec_result result = between_.encode<T>(in, base, count, writer);
        if (result != COLLPRESS_CODEC_OK || !begun_) return result;
        Reader own(head + sizeof place, writer.used() - before);
        std::vector<T> decoded(count);
        if (!remake<T>(own, place, base, decoded)) return COLLPRESS_CODEC_FAILED;
        ++nth_;
        return COLLPRESS_CODEC_OK;
    }

    template <class T>
    [[gnu::always_inline]] bool decode(Reader &reader, unsigned char *out, std::size_t count) {
        if (intra_) return within_.decode<T>(reader, nullptr, out, count);
        if (!differences_) return between_.decode<T>(reader, nullptr, out, count);
        Place place;
        if (!reader.get(place)) return false;
        if (place.nth == kAlone) return place.round == 0 && between_.decode<T>(reader, nullptr, out, count);
        const auto known = replicas<T>().find({place.rank, place.nth});
        const bool there = known != replicas<T>().end() && known->second.values.size() == count;
        if (there && known->second.round == place.round && known->second.stream == sum(reader)) { // seen before
            reader.take(reader.left());
            if (count != 0) std::memcpy(out, known->second.values.data(), count * sizeof(T));
            return true;
        }
        if (place.round != 0 && !(there && known->second.round == place.round - 1)) return false;
        std::vector<T> decoded(count);
        if (!remake<T>(reader, place, place.round != 0 ? known->second.values.data() : nullptr, decoded)) return false;
        if (count != 0) std::memcpy(out, replicas<T>()[{place.rank, place.nth}].values.data(), count * sizeof(T));
        return true;
    }

    // Of a difference to what was within E of a message of the same magnitude: it is 2 max_abs + E at most, and
    // E = c(2 max_abs + E), where c max_abs is the error of a quantised max_abs. The difference and the sum are
    // rounded, too.
    double worst_error(double max_abs, double epsilon) const {
        if (intra_) return within_.worst_error(max_abs, epsilon);
        const double error = between_.worst_error(max_abs, epsilon);
        if (!differences_) return error;
        const double c = between_.worst_error(1, epsilon) + 4 * epsilon;
        return 2 * c / (1 - c) * max_abs;
    }

  private:
    template <class T>
    Replicas<T> &replicas() {
        return std::get<Replicas<T>>(replicas_);
    }

    static std::uint64_t sum(const Reader &reader) { return checksum(reader.rest(), reader.left(), 4); }

    // The replica that a stream leaves behind; `decoded` becomes it.
    template <class T>
    [[gnu::always_inline]] bool remake(Reader &reader, const Place &place, const T *base, std::vector<T> &decoded) {
        const std::uint64_t stream = sum(reader);
        auto *const to = reinterpret_cast<unsigned char *>(decoded.data());
        if (!between_.decode<T>(reader, base, to, decoded.size()) || reader.left() != 0) return false;
        replicas<T>()[{place.rank, place.nth}] = {place.round, stream, std::move(decoded)};
        return true;
    }

    std::uint32_t rank_;
    bool differences_, intra_;
    Grouping grouping_;
    Groups<8> within_;
    Groups<4> between_;
    bool begun_ = false;
    std::uint32_t nth_ = 0;
    std::tuple<Replicas<float>, Replicas<double>> replicas_;
};

constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC,
                                    "SDP4Bit: Hadamard and 4 or 8 bits for gradients, 4 bits for weight differences",
                                    &FloatCodec<Sdp4bit>::codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
