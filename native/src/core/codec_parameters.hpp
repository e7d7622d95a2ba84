// What a codec declares of its parameters, checked and described.
#pragma once

#include "collpress/codec.h"

#include "core/json.hpp"

#include <cmath>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace collpress {

inline std::span<const collpress_codec_parameter> parameters_of(const collpress_codec &codec) {
    if (codec.extras == nullptr || codec.extras->parameters == nullptr) return {};
    return {codec.extras->parameters, codec.extras->parameter_count};
}

inline std::vector<std::string_view> choices_of(const collpress_codec_parameter &parameter) {
    std::vector<std::string_view> choices;
    if (parameter.choices == nullptr) return choices;
    std::string_view rest = parameter.choices;
    while (true) {
        choices.push_back(rest.substr(0, rest.find('|')));
        if (choices.back().size() == rest.size()) return choices;
        rest.remove_prefix(choices.back().size() + 1);
    }
}

// What is wrong with a codec's parameters; empty: nothing. `is_name`: whether a text can name something.
template <class IsName>
std::string parameter_fault(const collpress_codec &codec, const IsName &is_name) {
    std::set<std::string> seen;
    for (const collpress_codec_parameter &parameter : parameters_of(codec)) {
        const std::string name = parameter.name == nullptr ? "" : parameter.name;
        if (!is_name(name)) return "\"" + name + "\" cannot name a parameter";
        if (!seen.insert(name).second) return "the parameter " + name + " is declared twice";
        if (parameter.summary == nullptr) return "the parameter " + name + " has no summary";
        if (parameter.choices != nullptr) {
            const std::vector<std::string_view> choices = choices_of(parameter);
            for (const std::string_view choice : choices) {
                if (!is_name(choice)) return "the parameter " + name + " has a choice that is no name";
            }
            if (!(parameter.usual >= 0 && parameter.usual < static_cast<double>(choices.size())))
                return "the usual value of the parameter " + name + " is none of its choices";
        } else if (!std::isfinite(parameter.least) || !std::isfinite(parameter.most) ||
                   !(parameter.least <= parameter.usual && parameter.usual <= parameter.most)) {
            return "the usual value of the parameter " + name + " is outside its limits";
        }
    }
    return "";
}

inline void describe_extras(Json &json, const collpress_codec &codec) {
    json.key("parameters").begin_array();
    for (const collpress_codec_parameter &parameter : parameters_of(codec)) {
        json.begin_object().member("name", parameter.name).member("summary", parameter.summary).key("choices");
        json.begin_array();
        for (const std::string_view choice : choices_of(parameter)) json.value(choice);
        json.end_array()
            .member("usual", parameter.usual)
            .member("least", parameter.least)
            .member("most", parameter.most)
            .member("whole", parameter.whole != 0)
            .end_object();
    }
    json.end_array()
        .member("adds", codec.extras != nullptr && codec.extras->add != nullptr)
        .member("remembers", codec.extras != nullptr && codec.extras->begin != nullptr);
}

} // namespace collpress
