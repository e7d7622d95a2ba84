// The values of a codec's declared parameters.
#ifndef COLLPRESS_CODECS_PARAMETER_HPP
#define COLLPRESS_CODECS_PARAMETER_HPP

#include "collpress/codec.h"

#include <cstddef>

namespace collpress::codecs {

// The value of parameter `i` of those that the codec declares; the usual one where a caller hands none over.
template <std::size_t n>
double parameter(const collpress_codec_config &config, const collpress_codec_parameter (&declared)[n], std::size_t i) {
    return config.parameters == nullptr ? declared[i].usual : config.parameters[i];
}
template <std::size_t n>
int whole_parameter(const collpress_codec_config &config, const collpress_codec_parameter (&declared)[n],
                    std::size_t i) {
    return static_cast<int>(parameter(config, declared, i));
}

template <std::size_t n>
constexpr collpress_codec_extras only_parameters(const collpress_codec_parameter (&declared)[n]) {
    return {declared, n, nullptr, nullptr, nullptr};
}

} // namespace collpress::codecs
#endif
