// The codecs that are nothing but Groups: int8, int4.
#ifndef COLLPRESS_CODECS_GROUP_CODEC_HPP
#define COLLPRESS_CODECS_GROUP_CODEC_HPP

#include "quantise.hpp"

#include <array>

namespace collpress::codecs {

constexpr collpress_codec_parameter kGroupParameter = whole("group", "values that share a scale", 128, 32, 65536);
constexpr collpress_codec_parameter kKindParameter =
    choice("kind", "steps on both sides of zero, or from the smallest value to the largest", "symmetric|asymmetric");
constexpr const char *kRoundingSummary = "to the nearest step, or at random so that the mean error is zero";
constexpr collpress_codec_parameter kRoundingParameter = choice("rounding", kRoundingSummary, "nearest|stochastic");
constexpr collpress_codec_parameter kSeedParameter =
    whole("seed", "of stochastic rounding: equal seeds and data give equal streams", 1, 0, 4294967295);

// What distinguishes streams of groups.
constexpr std::uint32_t group_settings(const Grouping &grouping) {
    return static_cast<std::uint32_t>(grouping.group - 1) | (grouping.asymmetric ? 1u << 16 : 0) |
           static_cast<std::uint32_t>(grouping.block) << 20;
}

// int8 and int4: four parameters; with a transform a fifth.
template <int bits, std::uint32_t magic_number, bool transforms>
class GroupCodec {
  public:
    static constexpr std::uint32_t magic = magic_number;
    static constexpr std::array<collpress_codec_parameter, transforms ? 5 : 4> parameters = [] {
        if constexpr (transforms)
            return std::array{kGroupParameter, kKindParameter, kRoundingParameter, kSeedParameter,
                              whole("block", "values that are transformed together, a power of two", 32, 32, 128)};
        else
            return std::array{kGroupParameter, kKindParameter, kRoundingParameter, kSeedParameter};
    }();

    GroupCodec(const Values &values, const collpress_codec_config &config)
        : grouping_{values.whole(0), values.chosen(1, 1), values.chosen(2, 1),
                    rank_key(static_cast<std::uint64_t>(values.whole(3)), config.rank),
                    transforms ? values.whole(4) : 0},
          groups_(grouping_) {}

    static bool allowed(const Values &values) { return !transforms || std::has_single_bit(values.whole(4)); }

    std::uint32_t settings() const { return group_settings(grouping_); }
    std::size_t most(std::size_t count, std::size_t element) const { return groups_.most(count, element); }

    template <class T>
    [[gnu::always_inline]] collpress_codec_result encode(const unsigned char *in, std::size_t count, Writer &writer) {
        return groups_.template encode<T>(in, nullptr, count, writer);
    }
    template <class T>
    [[gnu::always_inline]] bool decode(Reader &reader, unsigned char *out, std::size_t count) {
        return groups_.template decode<T>(reader, nullptr, out, count);
    }
    double worst_error(double max_abs, double epsilon) const { return groups_.worst_error(max_abs, epsilon); }

  private:
    Grouping grouping_;
    Groups<bits> groups_;
};

} // namespace collpress::codecs
#endif
