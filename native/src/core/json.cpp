#include "core/json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace collpress {

namespace {

// Length of the valid UTF-8 sequence at text[at], or 0.
std::size_t sequence_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || at + length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xC0) != 0x80) return 0;
    }
    const unsigned char second = byte(at + 1);
    const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    const bool surrogate = first == 0xED && second > 0x9F;
    const bool beyond = first == 0xF4 && second > 0x8F;
    return overlong || surrogate || beyond ? 0 : length;
}

} // namespace

Json &Json::open(char bracket) {
    separate();
    text_ += bracket;
    needs_comma_ = false;
    return *this;
}

Json &Json::close(char bracket) {
    text_ += bracket;
    needs_comma_ = true;
    return *this;
}

Json &Json::raw(std::string_view token) {
    separate();
    text_ += token;
    needs_comma_ = true;
    return *this;
}

Json &Json::key(std::string_view name) {
    separate();
    quote(name);
    text_ += ": ";
    needs_comma_ = false;
    return *this;
}

Json &Json::value(std::string_view text) {
    separate();
    quote(text);
    needs_comma_ = true;
    return *this;
}

Json &Json::value(double number) {
    if (!std::isfinite(number)) return null();
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return raw(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
}

void Json::separate() {
    if (needs_comma_) text_ += ", ";
    needs_comma_ = false;
}

void Json::quote(std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    text_ += '"';
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const std::size_t length = sequence_length(text, i);
        if (length == 0) {
            text_ += "\xEF\xBF\xBD"; // the replacement character
            ++i;
            continue;
        }
        if (byte == '"' || byte == '\\') {
            text_ += '\\';
            text_ += text[i];
        } else if (byte < 0x20 || byte == 0x7F) {
            text_ += "\\u00";
            text_ += hex[byte >> 4];
            text_ += hex[byte & 15];
        } else {
            text_ += text.substr(i, length);
        }
        i += length;
    }
    text_ += '"';
}

} // namespace collpress
