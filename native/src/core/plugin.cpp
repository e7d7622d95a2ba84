#include "core/plugin.hpp"

#include "core/codec_parameters.hpp"
#include "core/json.hpp"
#include "core/plan.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <set>
#include <span>
#include <string_view>

#include <dlfcn.h>

namespace collpress {

namespace {

std::string last_dl_error() {
    const char *message = dlerror();
    return message == nullptr ? "unknown error" : message;
}

const collpress_plugin_t *open_plugin(const std::string &path) {
    // Without a slash dlopen would search the library path instead of the folder.
    const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
    void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) throw PluginError("plugin " + path + " cannot be loaded: " + last_dl_error());
    void *symbol = dlsym(handle, "collpress_plugin");
    if (symbol == nullptr) {
        throw PluginError("plugin " + path +
                          " does not export collpress_plugin; declare it extern \"C\" as plugin.h does");
    }
    using Entry = const collpress_plugin_t *(*)();
    const collpress_plugin_t *description = reinterpret_cast<Entry>(symbol)();
    if (description == nullptr) throw PluginError("plugin " + path + ": collpress_plugin() returned a null pointer");
    if (description->abi_version != COLLPRESS_ABI_VERSION) {
        throw PluginError("plugin " + path + " was compiled for ABI version " +
                          std::to_string(description->abi_version) + "; this core has version " +
                          std::to_string(COLLPRESS_ABI_VERSION) + ": compile it again with this core's headers");
    }
    if (description->kind < COLLPRESS_CODEC || description->kind > COLLPRESS_METRIC) {
        throw PluginError("plugin " + path + " is of unknown kind " + std::to_string(description->kind) +
                          "; known: 1 (codec), 2 (algorithm), 3 (metric)");
    }
    if (description->interface == nullptr) throw PluginError("plugin " + path + " has no interface");
    return description;
}

// [a-z][a-z0-9_]*: what names of variables may be made of.
bool is_name(std::string_view text) {
    const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
    return !text.empty() && lower(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
        return lower(c) || (c >= '0' && c <= '9') || c == '_';
    });
}

bool is_word(std::string_view text) {
    return !text.empty() && std::none_of(text.begin(), text.end(),
                                         [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
}

void check_values(const std::string &path, const collpress_metric &metric) {
    const auto refuse_name = [&](const std::string &name, const char *what) {
        throw PluginError("plugin " + path + ": \"" + name + "\" cannot name a " + what +
                          "; a name is lower-case letters, digits and _, a letter first");
    };
    const auto refuse_value = [&](const std::string &name, const char *why) {
        throw PluginError("plugin " + path + ": the value " + name + " " + why);
    };
    if (!is_name(plugin_name(path))) refuse_name(plugin_name(path), "metric");
    if (metric.value_count == 0 || metric.values == nullptr) throw PluginError("plugin " + path + " states no values");
    std::set<std::string> seen;
    for (const collpress_metric_value &value : std::span(metric.values, metric.value_count)) {
        const std::string name = value.name == nullptr ? "" : value.name;
        if (!is_name(name)) refuse_name(name, "value");
        if (!seen.insert(name).second) refuse_value(name, "is stated twice");
        if (value.unit == nullptr || !is_word(value.unit))
            refuse_value(name, "has a unit that is not one word, such as 1, dB or data");
    }
}

// A missing function is a fault of the plugin that must not wait for the first call.
void check_complete(const std::string &path, const Plugin &plugin) {
    const auto require = [&](bool present, const char *what) {
        if (!present) throw PluginError("plugin " + path + " lacks " + what);
    };
    if (const collpress_algorithm *algorithm = plugin.algorithm(); algorithm != nullptr) {
        require(algorithm->collective != nullptr, "the name of its collective");
        require(algorithm->run != nullptr, "run()");
        require(algorithm->compresses == 0 || algorithm->error_bound != nullptr,
                "error_bound(), which an algorithm that compresses needs");
    }
    if (const collpress_codec *codec = plugin.codec(); codec != nullptr) {
        require(codec->create != nullptr, "create()");
        require(codec->destroy != nullptr, "destroy()");
        require(codec->max_bytes != nullptr, "max_bytes()");
        require(codec->compress != nullptr, "compress()");
        require(codec->decompress != nullptr, "decompress()");
        require(codec->worst_error != nullptr, "worst_error()");
        if (const std::string fault = parameter_fault(*codec, is_name); !fault.empty())
            throw PluginError("plugin " + path + ": " + fault);
    }
    if (const collpress_metric *metric = plugin.metric(); metric != nullptr) {
        require(metric->create != nullptr, "create()");
        require(metric->destroy != nullptr, "destroy()");
        require(metric->add != nullptr, "add()");
        require(metric->finish != nullptr, "finish()");
        check_values(path, *metric);
    }
}

void describe(Json &json, const Plugin &plugin) {
    json.begin_object().member("name", plugin.name).member("kind", plugin.kind_name());
    if (const collpress_algorithm *algorithm = plugin.algorithm(); algorithm != nullptr) {
        json.member("collective", algorithm->collective)
            .member("compresses", algorithm->compresses != 0)
            .member("min_ranks", algorithm->min_ranks)
            .member("power_of_two_ranks", algorithm->power_of_two_ranks != 0)
            .member("count_at_least_ranks", algorithm->count_at_least_ranks != 0)
            .member("in_place", algorithm->in_place != 0)
            .member("segments", algorithm->segments != 0)
            .member("least_fanout", algorithm->least_fanout)
            .member("needs_add", algorithm->needs_add != 0);
    }
    if (const collpress_codec *codec = plugin.codec(); codec != nullptr) {
        json.key("dtypes").begin_array();
        for (const Dtype &dtype : dtypes) {
            if ((codec->dtypes & COLLPRESS_DTYPE_BIT(dtype.id)) != 0) json.value(dtype.name);
        }
        json.end_array().member("takes_bound", codec->takes_bound != 0).member("lossless", codec->lossless != 0);
        describe_extras(json, *codec);
    }
    if (const collpress_metric *metric = plugin.metric(); metric != nullptr) {
        json.key("values").begin_array();
        for (std::uint32_t i = 0; i < metric->value_count; ++i) json.value(metric->values[i].name);
        json.end_array().key("units").begin_array();
        for (std::uint32_t i = 0; i < metric->value_count; ++i) json.value(metric->values[i].unit);
        json.end_array();
    }
    json.member("summary", plugin.description->summary == nullptr ? "" : plugin.description->summary).end_object();
}

} // namespace

std::string plugin_name(const std::string &path) {
    const std::size_t slash = path.rfind('/');
    const std::string file = slash == std::string::npos ? path : path.substr(slash + 1);
    return file.substr(0, file.rfind('.'));
}

const collpress_algorithm *Plugin::algorithm() const {
    if (description->kind != COLLPRESS_ALGORITHM) return nullptr;
    return static_cast<const collpress_algorithm *>(description->interface);
}

const collpress_codec *Plugin::codec() const {
    if (description->kind != COLLPRESS_CODEC) return nullptr;
    return static_cast<const collpress_codec *>(description->interface);
}

const collpress_metric *Plugin::metric() const {
    if (description->kind != COLLPRESS_METRIC) return nullptr;
    return static_cast<const collpress_metric *>(description->interface);
}

const char *Plugin::kind_name() const {
    return codec() != nullptr ? "codec" : algorithm() != nullptr ? "algorithm" : "metric";
}

const Plugin &PluginCache::load(const std::string &path) {
    if (const auto known = plugins_.find(path); known != plugins_.end()) return known->second;
    const Plugin plugin{plugin_name(path), open_plugin(path)};
    check_complete(path, plugin);
    return plugins_.emplace(path, plugin).first->second;
}

void describe_plugins(const std::vector<std::string> &paths) {
    PluginCache cache;
    Json json;
    json.begin_array();
    for (const std::string &path : paths) describe(json, cache.load(path));
    json.end_array();
    std::printf("%s\n", json.text().c_str());
}

} // namespace collpress
