// A small strict JSON writer: one line, valid UTF-8, no NaN (null), doubles that read back as the same bits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace collpress {

class Json {
  public:
    Json &begin_object() { return open('{'); }
    Json &end_object() { return close('}'); }
    Json &begin_array() { return open('['); }
    Json &end_array() { return close(']'); }
    Json &key(std::string_view name);

    Json &null() { return raw("null"); }
    Json &value(std::string_view text);
    Json &value(const char *text) { return value(std::string_view(text)); }
    Json &value(bool truth) { return raw(truth ? "true" : "false"); }
    Json &value(double number); // null unless finite
    template <typename Integer>
        requires std::is_integral_v<Integer>
    Json &value(Integer number) {
        return raw(std::to_string(number));
    }

    template <typename T>
    Json &member(std::string_view name, const T &content) {
        return key(name).value(content);
    }
    Json &member_null(std::string_view name) { return key(name).null(); }

    const std::string &text() const { return text_; }

  private:
    Json &open(char bracket);
    Json &close(char bracket);
    Json &raw(std::string_view token);
    void separate();
    void quote(std::string_view text);

    std::string text_;
    bool needs_comma_ = false;
};

} // namespace collpress
