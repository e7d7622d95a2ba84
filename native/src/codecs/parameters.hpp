// The values of a codec's declared parameters.
#ifndef COLLPRESS_CODECS_PARAMETERS_HPP
#define COLLPRESS_CODECS_PARAMETERS_HPP

#include "collpress/codec.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace collpress::codecs {

using Parameters = std::span<const collpress_codec_parameter>;

constexpr collpress_codec_parameter choice(const char *name, const char *summary, const char *choices,
                                           double usual = 0) {
    return {name, summary, choices, usual, 0, 0, 0};
}
constexpr collpress_codec_parameter whole(const char *name, const char *summary, double usual, double least,
                                          double most) {
    return {name, summary, nullptr, usual, least, most, 1};
}
constexpr collpress_codec_parameter number(const char *name, const char *summary, double usual, double least,
                                           double most) {
    return {name, summary, nullptr, usual, least, most, 0};
}

// What a configuration says of them, by their places; the usual values where it says nothing.
class Values {
  public:
    Values(const collpress_codec_config &config, Parameters declared)
        : given_(config.parameters), declared_(declared) {}

    double operator[](std::size_t i) const { return given_ != nullptr ? given_[i] : declared_[i].usual; }
    std::size_t whole(std::size_t i) const { return static_cast<std::size_t>((*this)[i]); }
    bool chosen(std::size_t i, double place) const { return (*this)[i] == place; }

    // Whether each is one of its choices, or within its limits.
    bool allowed() const {
        for (std::size_t i = 0; i < declared_.size(); ++i) {
            const collpress_codec_parameter &parameter = declared_[i];
            const double value = (*this)[i];
            const bool is_whole = value == std::floor(value);
            if (parameter.choices != nullptr) {
                const std::string_view words = parameter.choices;
                if (!(value >= 0 && value <= static_cast<double>(std::ranges::count(words, '|')) && is_whole))
                    return false;
            } else if (!(value >= parameter.least && value <= parameter.most) || (parameter.whole != 0 && !is_whole)) {
                return false;
            }
        }
        return true;
    }

  private:
    const double *given_;
    Parameters declared_;
};

template <std::size_t n>
constexpr collpress_codec_extras only_parameters(const collpress_codec_parameter (&declared)[n]) {
    return {declared, n, nullptr, nullptr, nullptr};
}

} // namespace collpress::codecs
#endif
