#include "core/plan.hpp"

#include "core/plugin.hpp"
#include "core/suggestion.hpp"
#include "measure/feedback.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

namespace collpress {

namespace {

constexpr auto known_keys = std::to_array<std::string_view>({"key",
                                                             "id",
                                                             "collective",
                                                             "algorithm",
                                                             "plugin",
                                                             "tagged_plugin",
                                                             "codec",
                                                             "codec_plugin",
                                                             "codec_parameters",
                                                             "bound",
                                                             "bound_value",
                                                             "target",
                                                             "dtype",
                                                             "op",
                                                             "message_bytes",
                                                             "root",
                                                             "buffers",
                                                             "call",
                                                             "imbalance",
                                                             "imbalance_seed",
                                                             "segment_bytes",
                                                             "fanout",
                                                             "proof",
                                                             "consistent_with",
                                                             "sync",
                                                             "cache",
                                                             "alignment",
                                                             "feedback",
                                                             "data",
                                                             "data_path",
                                                             "data_elements",
                                                             "data_unique_bytes",
                                                             "data_dtype",
                                                             "data_parts",
                                                             "row",
                                                             "plane",
                                                             "wrap",
                                                             "wrap_seed",
                                                             "wrap_amplitude",
                                                             "warmup",
                                                             "min_iterations",
                                                             "max_iterations",
                                                             "precision",
                                                             "at_most",
                                                             "at_least",
                                                             "instrumented",
                                                             "metrics"});

std::vector<std::string_view> all_keys() { return {known_keys.begin(), known_keys.end()}; }

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// One line: its entries, and readers that say where a value is wrong.
class Line {
  public:
    Line(std::string where, std::string_view text) : where_(std::move(where)) {
        while (true) {
            const std::size_t tab = text.find('\t');
            add(text.substr(0, tab));
            if (tab == std::string_view::npos) break;
            text.remove_prefix(tab + 1);
        }
    }

    [[noreturn]] void fail(std::string_view key, const std::string &problem,
                           const std::vector<std::string_view> &known = {}) const {
        std::string message = where_ + ": key \"" + std::string(key) + "\": " + problem;
        if (!known.empty()) message += "; known: " + joined(known);
        throw PlanError(message);
    }

    bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
    const std::vector<std::pair<std::string, std::string>> &entries() const { return entries_; }

    const std::string &text(std::string_view key) const {
        const auto found = values_.find(key);
        if (found == values_.end()) fail(key, "missing");
        return found->second;
    }

    std::string optional(std::string_view key) const { return has(key) ? text(key) : std::string(); }

    std::size_t word(std::string_view key, const std::vector<std::string_view> &known) const {
        const std::string &value = text(key);
        for (std::size_t i = 0; i < known.size(); ++i) {
            if (known[i] == value) return i;
        }
        fail(key, "unknown value \"" + value + "\"" + did_you_mean(value, known), known);
    }

    std::size_t integer(std::string_view key) const {
        const std::string &value = text(key);
        std::size_t number = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (error != std::errc() || end != value.data() + value.size()) {
            fail(key, "\"" + value + "\" is not a whole number from 0 to 2^64-1");
        }
        return number;
    }

    double positive(std::string_view key) const {
        const std::string &value = text(key);
        double number = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(number) || number <= 0) {
            fail(key, "\"" + value + "\" is not a finite number above 0");
        }
        return number;
    }

    // Finite numbers, one space between two.
    std::vector<double> numbers(std::string_view key) const {
        const std::string &value = text(key);
        std::vector<double> found;
        const char *at = value.data();
        const char *const end = at + value.size();
        while (true) {
            double number = 0;
            const auto [stop, error] = std::from_chars(at, end, number);
            if (error != std::errc() || !std::isfinite(number) || (stop != end && *stop != ' '))
                fail(key, "\"" + value + "\" is not a list of finite numbers");
            found.push_back(number);
            if (stop == end) return found;
            at = stop + 1;
        }
    }

    std::string identity(std::string_view key) const {
        const std::string &value = text(key);
        if (value.size() != 32 || value.find_first_not_of("0123456789abcdef") != std::string::npos) {
            fail(key, "\"" + value + "\" is not 32 lower-case hex digits");
        }
        return value;
    }

    // Keys that this kind of point must not have.
    void forbid(std::string_view key, const std::string &why) const {
        if (has(key)) fail(key, why);
    }

  private:
    void add(std::string_view entry) {
        const std::size_t equals = entry.find('=');
        if (equals == std::string_view::npos) {
            throw PlanError(where_ + ": \"" + std::string(entry) + "\" is not key=value; known: " + joined(all_keys()));
        }
        const std::string key(entry.substr(0, equals));
        const std::vector<std::string_view> known = all_keys();
        bool is_known = false;
        for (const std::string_view name : known) is_known = is_known || name == key;
        if (!is_known) fail(key, "unknown" + did_you_mean(key, known), known);
        std::string value = decode(key, entry.substr(equals + 1));
        if (!values_.emplace(key, value).second) fail(key, "given twice");
        // What was found out is no part of what is asked for.
        const bool asked = key != "key" && key != "id" && key != "proof" && key != "consistent_with";
        if (asked) entries_.emplace_back(key, std::move(value));
    }

    std::string decode(const std::string &key, std::string_view text) const {
        std::string decoded;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '%') {
                decoded += text[i];
                continue;
            }
            const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
            const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
            if (low < 0) fail(key, "\"" + std::string(text) + "\" has a % without two hex digits (0-9, A-F)");
            decoded += static_cast<char>(high * 16 + low);
            i += 2;
        }
        return decoded;
    }

    std::string where_;
    std::map<std::string, std::string, std::less<>> values_;
    std::vector<std::pair<std::string, std::string>> entries_;
};

void read_collective(const Line &line, PlanPoint &point) {
    const std::vector<std::string_view> known(collective_names.begin(), collective_names.end());
    point.collective = static_cast<Collective>(line.word("collective", known));
    if (line.has("root")) point.root = line.integer("root");
    if (point.root != 0 && !is_rooted(point.collective)) line.fail("root", "this collective has no root");
    if (line.has("buffers")) point.in_place = line.word("buffers", {"separate", "in-place"}) == 1;
    if (point.in_place && !knows_in_place(point.collective))
        line.fail("buffers", "this collective is not called in place");
    if (line.has("call")) point.nonblocking = line.word("call", {"blocking", "nonblocking"}) == 1;
    if (line.has("imbalance"))
        point.imbalance =
            static_cast<Imbalance>(line.word("imbalance", {imbalance_names.begin(), imbalance_names.end()}));
    if (line.has("imbalance_seed")) point.imbalance_seed = line.integer("imbalance_seed");
    if (point.imbalance != Imbalance::none && !has_counts(point.collective))
        line.fail("imbalance", "all blocks of this collective are alike");
}

void read_circumstances(const Line &line, PlanPoint &point) {
    if (line.has("segment_bytes")) point.segment_bytes = line.integer("segment_bytes");
    if (point.segment_bytes == std::size_t{0}) line.fail("segment_bytes", "must be at least 1");
    if (line.has("fanout")) {
        const std::size_t fanout = line.integer("fanout");
        if (fanout < 2 || fanout > 1'000'000) line.fail("fanout", "must be from 2 to 1000000");
        point.fanout = static_cast<std::int32_t>(fanout);
    }
    if (line.has("sync")) point.sync = static_cast<Sync>(line.word("sync", {sync_names.begin(), sync_names.end()}));
    if (line.has("cache")) point.cold = line.word("cache", {"warm", "cold"}) == 1;
    if (line.has("alignment")) point.alignment = line.integer("alignment");
    if (!std::has_single_bit(point.alignment) || point.alignment < 64 || point.alignment > (std::size_t{1} << 30))
        line.fail("alignment", "must be a power of two from 64 to 2^30");
}

void read_algorithm(const Line &line, PlanPoint &point) {
    const std::string &name = line.text("algorithm");
    const std::size_t colon = name.find(':');
    const std::string origin = name.substr(0, colon);
    const std::vector<std::string_view> origins = {"library", "reference", "compressed"};
    if (colon == std::string::npos || colon + 1 == name.size()) {
        line.fail("algorithm", "\"" + name + "\" is not ORIGIN:NAME",
                  {"library:NAME", "reference:NAME", "compressed:NAME"});
    }
    point.algorithm = name.substr(colon + 1);
    if (origin == origins[0]) {
        point.origin = Origin::library;
        line.forbid("plugin", "an algorithm of the library has no plugin");
        line.forbid("tagged_plugin", "an algorithm of the library has no plugin");
    } else if (origin == origins[1] || origin == origins[2]) {
        point.origin = origin == origins[1] ? Origin::reference : Origin::compressed;
        point.plugin = line.text("plugin");
        point.tagged_plugin = line.optional("tagged_plugin");
    } else {
        line.fail("algorithm", "unknown origin \"" + origin + "\"" + did_you_mean(origin, origins), origins);
    }
    if (point.origin == Origin::compressed) {
        point.codec = line.text("codec");
        point.codec_plugin = line.text("codec_plugin");
        if (line.has("codec_parameters")) point.codec_parameters = line.numbers("codec_parameters");
    } else {
        line.forbid("codec", "only a compressed: algorithm has a codec");
        line.forbid("codec_plugin", "only a compressed: algorithm has a codec");
        line.forbid("codec_parameters", "only a compressed: algorithm has a codec");
    }
}

// Names, one a line of the value.
void read_proof(const Line &line, PlanPoint &point) {
    if (!line.has("proof")) return line.forbid("consistent_with", "needs a proof");
    if (point.origin != Origin::library) line.fail("proof", "only an algorithm of the library needs one");
    const std::vector<std::string_view> known = {"traffic", "fingerprint", "consistent"};
    point.proof = known[line.word("proof", known)];
    std::string_view rest = line.text("consistent_with");
    while (true) {
        point.consistent_with.emplace_back(rest.substr(0, rest.find('\n')));
        if (point.consistent_with.back().empty()) line.fail("consistent_with", "an empty name");
        if (point.consistent_with.back().size() == rest.size()) break;
        rest.remove_prefix(point.consistent_with.back().size() + 1);
    }
}

void read_bound(const Line &line, PlanPoint &point) {
    if (line.has("bound")) point.bound = static_cast<Bound>(line.word("bound", {"none", "abs", "rel"}));
    if (point.bound == Bound::none) {
        for (const char *key : {"bound_value", "target"}) line.forbid(key, "needs a bound: abs or rel");
        return;
    }
    if (point.origin != Origin::compressed)
        line.fail("bound", "only a compressed: algorithm has an error bound", {"none"});
    point.bound_value = line.positive("bound_value");
    if (line.has("target")) point.target = static_cast<Target>(line.word("target", {"message", "result"}));
}

void read_wrap(const Line &line, PlanPoint &point) {
    if (line.has("wrap")) point.wrap = static_cast<Wrap>(line.word("wrap", {"none", "mirror", "perturb", "repeat"}));
    if (point.wrap != Wrap::perturb) {
        for (const char *key : {"wrap_seed", "wrap_amplitude"}) line.forbid(key, "only wrap=perturb changes values");
        return;
    }
    if (is_integer(point.dtype.id)) line.fail("wrap", "only floating-point values can be perturbed");
    point.wrap_seed = line.integer("wrap_seed");
    point.wrap_amplitude = line.positive("wrap_amplitude");
    if (point.wrap_amplitude >= 1) line.fail("wrap_amplitude", "must be below 1");
}

void read_shape(const Line &line, PlanPoint &point) {
    const std::size_t elements = point.data_elements / point.data_parts.value_or(1);
    if (!line.has("row")) return line.forbid("plane", "needs a row");
    point.row = line.integer("row");
    if (point.row < 2 || elements % point.row != 0)
        line.fail("row", "must be at least 2 and divide " + std::to_string(elements) + " elements");
    if (!line.has("plane")) return;
    point.plane = line.integer("plane");
    if (point.plane <= point.row || point.plane % point.row != 0 || elements % point.plane != 0)
        line.fail("plane", "must be several rows and divide " + std::to_string(elements) + " elements");
}

void read_data(const Line &line, PlanPoint &point) {
    point.from_file = line.word("data", {"pattern", "file"}) == 1;
    if (!point.from_file) {
        for (const std::string_view key : known_keys) {
            if (key.starts_with("data_") || key.starts_with("wrap") || key == "row" || key == "plane")
                line.forbid(key, "only data=file has this");
        }
        return;
    }
    point.data_path = line.text("data_path");
    point.data_elements = line.integer("data_elements");
    if (line.has("data_unique_bytes")) point.data_unique_bytes = line.integer("data_unique_bytes");
    if (line.has("data_dtype")) {
        const std::vector<std::string_view> stored = {point.dtype.name, "bfloat16"};
        point.data_bfloat16 = line.word("data_dtype", stored) == 1;
        if (point.data_bfloat16 && point.dtype.id != COLLPRESS_FLOAT32)
            line.fail("data_dtype", "bfloat16 values are sent as float32");
    }
    if (line.has("data_parts")) {
        point.data_parts = line.integer("data_parts");
        if (*point.data_parts == 0 || point.data_elements % *point.data_parts != 0)
            line.fail("data_parts", "does not divide the " + std::to_string(point.data_elements) + " elements");
    }
    read_shape(line, point);
    read_wrap(line, point);
}

// Paths, one a line of the value.
void read_metrics(const Line &line, PlanPoint &point) {
    if (!line.has("metrics")) return;
    if (!point.from_file) line.fail("metrics", "only data=file has a fidelity", {"file"});
    if (point.dtype.id != COLLPRESS_FLOAT32 && point.dtype.id != COLLPRESS_FLOAT64)
        line.fail("metrics", "only float32 and float64 values have a fidelity");
    std::string_view rest = line.text("metrics");
    std::set<std::string> names;
    while (true) {
        const std::string path(rest.substr(0, rest.find('\n')));
        if (path.empty()) line.fail("metrics", "an empty path");
        if (!names.insert(plugin_name(path)).second)
            line.fail("metrics", "two are called \"" + plugin_name(path) + "\"");
        point.metrics.push_back(path);
        if (path.size() == rest.size()) break;
        rest.remove_prefix(path.size() + 1);
    }
}

void read_feedback(const Line &line, PlanPoint &point) {
    if (!line.has("feedback")) return;
    point.feedback = line.integer("feedback");
    if (point.feedback == 0 || point.feedback > most_feedback_rounds)
        line.fail("feedback", "must be from 1 to " + std::to_string(most_feedback_rounds));
    const bool real = point.dtype.id == COLLPRESS_FLOAT32 || point.dtype.id == COLLPRESS_FLOAT64;
    if (point.collective != Collective::allreduce || point.op != COLLPRESS_SUM || !real)
        line.fail("feedback", "only the sums of an allreduce of float32 or float64 are fed back");
}

PlanPoint read_point(const Line &line) {
    PlanPoint point;
    point.key = line.identity("key");
    point.id = line.identity("id");
    read_collective(line, point);
    read_algorithm(line, point);
    read_proof(line, point);
    read_bound(line, point);
    std::vector<std::string_view> types;
    for (const Dtype &dtype : dtypes) types.push_back(dtype.name);
    point.dtype = dtypes[line.word("dtype", types)];
    point.op = static_cast<collpress_op>(line.word("op", {op_names.begin(), op_names.end()}));
    point.message_bytes = line.integer("message_bytes");
    read_circumstances(line, point);
    read_feedback(line, point);
    read_data(line, point);
    read_metrics(line, point);
    point.warmup = line.integer("warmup");
    point.min_iterations = line.integer("min_iterations");
    point.max_iterations = line.integer("max_iterations");
    if (point.min_iterations == 0) line.fail("min_iterations", "must be at least 1");
    if (point.max_iterations < point.min_iterations) line.fail("max_iterations", "is below min_iterations");
    point.precision = line.positive("precision");
    point.at_most_s = line.positive("at_most");
    if (line.has("at_least")) point.at_least_s = line.positive("at_least");
    point.instrumented = line.integer("instrumented");
    point.entries = line.entries();
    return point;
}

} // namespace

std::vector<PlanPoint> read_plan(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw PlanError(path + ": the plan cannot be read");
    std::string text;
    if (!std::getline(file, text) || text != "collpress-plan\t1") {
        throw PlanError(path + ":1: \"" + text + "\" is not the first line of a plan; known: collpress-plan<TAB>1");
    }
    std::vector<PlanPoint> points;
    std::set<std::string> keys;
    for (std::size_t number = 2; std::getline(file, text); ++number) {
        const Line line(path + ":" + std::to_string(number), text);
        points.push_back(read_point(line));
        if (!keys.insert(points.back().key).second)
            line.fail("key", "\"" + points.back().key + "\" is in the plan twice");
    }
    if (file.bad()) throw PlanError(path + ": the plan cannot be read to its end");
    return points;
}

} // namespace collpress
