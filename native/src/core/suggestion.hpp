// Messages about unknown words: the known ones, and the one that was probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace collpress {

// "a, b, c"
std::string joined(const std::vector<std::string_view> &words);

// " (did you mean "ring"?)", or nothing when no known word is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view> &known);

} // namespace collpress
