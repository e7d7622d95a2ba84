// Loading plugins: dlopen, the ABI check, and what a plugin says about itself.
#pragma once

#include "collpress/algorithm.h"
#include "collpress/codec.h"
#include "collpress/metric.h"

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace collpress {

class PluginError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The name of the plugin in a file: the stem.
std::string plugin_name(const std::string &path);

struct Plugin {
    std::string name; // the file's stem
    const collpress_plugin_t *description;

    // Null when the plugin is of another kind.
    const collpress_algorithm *algorithm() const;
    const collpress_codec *codec() const;
    const collpress_metric *metric() const;

    const char *kind_name() const; // "codec", ...
};

// Opens each file once; plugins stay open until the process ends.
class PluginCache {
  public:
    // Throws PluginError, which names the file.
    const Plugin &load(const std::string &path);

  private:
    std::map<std::string, Plugin> plugins_;
};

// Prints a JSON array, one object for each plugin in the order asked for.
void describe_plugins(const std::vector<std::string> &paths);

} // namespace collpress
