#include "core/command_line.hpp"

#include "core/suggestion.hpp"

#include <charconv>
#include <limits>
#include <map>
#include <set>

namespace collpress {

const char *const usage_text =
    "usage: collpress-core --plan FILE --journal FILE --launch N --attempt N --seed N --ranks N\n"
    "                      [--samples FILE --samples-mode none|summary|per-rank|all] [--traces FILE]   under mpiexec\n"
    "       collpress-core --prove PLAN --journal FILE --ranks N [--references FOLDER]\n"
    "                                                       what the library really does, as JSON   under mpiexec\n"
    "       collpress-core --describe PLUGIN.so...          what plugins say about themselves, as JSON\n"
    "       collpress-core --offers                         what the MPI library offers, as JSON\n"
    "       collpress-core --schedule PLUGIN.so --ranks P --count N [--root R] [--in-place] [--segment ELEMENTS]\n"
    "                      [--fanout K] [--ranks-per-node N] [--imbalance none|linear|one-large|random]\n"
    "                      [--imbalance-seed N]             what an algorithm sends to whom, as JSON\n"
    "       collpress-core --check PLUGIN.so --ranks P      whether an algorithm is right, on 1 to P ranks, as JSON\n";

namespace {

using Mode = Options::Mode;

constexpr std::int32_t most_ranks = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t most_recorded_ranks = 4096; // each has a stack of its own
constexpr std::size_t most_recorded_count = std::size_t{1} << 32;

[[noreturn]] void fail(const std::string &problem) { throw UsageError("collpress-core: " + problem); }

const std::vector<std::string_view> &options_of(Mode mode) {
    static const std::map<Mode, std::vector<std::string_view>> known = {
        {Mode::measure,
         {"--plan", "--journal", "--launch", "--attempt", "--seed", "--ranks", "--samples", "--samples-mode",
          "--traces"}},
        {Mode::describe, {"--describe"}},
        {Mode::offers, {"--offers"}},
        {Mode::schedule,
         {"--schedule", "--ranks", "--count", "--root", "--in-place", "--segment", "--fanout", "--ranks-per-node",
          "--imbalance", "--imbalance-seed"}},
        {Mode::check, {"--check", "--ranks"}},
        {Mode::prove, {"--prove", "--journal", "--ranks", "--references"}},
        {Mode::help, {"--plan", "--prove", "--describe", "--offers", "--schedule", "--check", "--help"}},
    };
    return known.at(mode);
}

Mode mode_of(const std::vector<std::string> &arguments) {
    const std::map<std::string_view, Mode> modes = {{"--plan", Mode::measure},  {"--describe", Mode::describe},
                                                    {"--offers", Mode::offers}, {"--schedule", Mode::schedule},
                                                    {"--check", Mode::check},   {"--prove", Mode::prove},
                                                    {"--help", Mode::help}};
    for (const std::string &argument : arguments) {
        if (const auto mode = modes.find(argument); mode != modes.end()) return mode->second;
    }
    const std::string given = arguments.empty() ? "no arguments" : "\"" + arguments.front() + "\"";
    const std::string hint = arguments.empty() ? "" : did_you_mean(arguments.front(), options_of(Mode::help));
    fail(given + ": one of " + joined(options_of(Mode::help)) + " is needed" + hint);
}

template <typename Integer>
Integer integer(const std::string &option, const std::string &text, Integer least, Integer most) {
    Integer value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
        fail(option + ": \"" + text + "\" is not a whole number from " + std::to_string(least) + " to " +
             std::to_string(most));
    }
    return value;
}

// The position of one of the names.
std::size_t choice(const std::string &option, const std::string &text, const std::vector<std::string_view> &names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == text) return i;
    }
    fail(option + ": unknown value \"" + text + "\"" + did_you_mean(text, names) + "; known: " + joined(names));
}

class Reader {
  public:
    Reader(Mode mode, const std::vector<std::string> &arguments) {
        options_.mode = mode;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const std::string &option = arguments[i];
            if (option.rfind("--", 0) != 0 && mode == Mode::describe && seen_.count("--describe") != 0) {
                options_.plugins.push_back(option);
                continue;
            }
            check_known(option);
            if (option == "--in-place") options_.call.in_place = true;
            if (has_no_value(option)) continue;
            if (++i == arguments.size()) fail(option + ": a value is missing");
            set(option, arguments[i]);
        }
    }

    Options finish() const {
        const auto require = [&](std::initializer_list<const char *> names) {
            for (const char *name : names) {
                if (seen_.count(name) == 0) fail(std::string(name) + " is missing");
            }
        };
        if (options_.mode == Mode::measure) require({"--journal", "--launch", "--attempt", "--seed", "--ranks"});
        if (options_.mode == Mode::prove) require({"--journal", "--ranks"});
        if (options_.mode == Mode::schedule) require({"--ranks", "--count"});
        if (options_.mode == Mode::describe && options_.plugins.empty())
            fail("--describe: at least one plugin is needed");
        if (options_.mode == Mode::check) require({"--ranks"});
        if (options_.samples_mode != SamplesMode::none && options_.samples.empty())
            fail("--samples-mode needs --samples FILE");
        return options_;
    }

  private:
    static bool has_no_value(const std::string &option) {
        return option == "--help" || option == "--offers" || option == "--describe" || option == "--in-place";
    }

    void check_known(const std::string &option) {
        const auto &known = options_of(options_.mode);
        bool is_known = false;
        for (const std::string_view name : known) is_known = is_known || name == option;
        if (!is_known)
            fail("unknown argument \"" + option + "\"" + did_you_mean(option, known) + "; known: " + joined(known));
        if (!seen_.insert(option).second) fail(option + " is given twice");
    }

    void set(const std::string &option, const std::string &value) {
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        if (option == "--plan" || option == "--prove")
            options_.plan = value;
        else if (option == "--journal")
            options_.journal = value;
        else if (option == "--references")
            options_.references = value;
        else if (option == "--launch")
            options_.launch = integer<std::int64_t>(option, value, 0, most);
        else if (option == "--attempt")
            options_.attempt = integer<std::int64_t>(option, value, 0, most);
        else if (option == "--seed")
            options_.seed = integer<std::uint64_t>(option, value, 0, std::numeric_limits<std::uint64_t>::max());
        else if (option == "--samples")
            options_.samples = value;
        else if (option == "--traces")
            options_.traces = value;
        else if (option == "--samples-mode")
            options_.samples_mode =
                static_cast<SamplesMode>(choice(option, value, {"none", "summary", "per-rank", "all"}));
        else if (option == "--schedule" || option == "--check")
            options_.plugins = {value};
        else if (option == "--ranks" && (options_.mode == Mode::measure || options_.mode == Mode::prove))
            options_.ranks = integer<std::int32_t>(option, value, 1, most_ranks);
        else
            set_call(option, value);
    }

    void set_call(const std::string &option, const std::string &value) {
        ScheduledCall &call = options_.call;
        if (option == "--ranks")
            call.ranks = integer<std::int32_t>(option, value, 1, most_recorded_ranks);
        else if (option == "--count")
            call.count = integer<std::size_t>(option, value, 0, most_recorded_count);
        else if (option == "--root")
            call.root = integer<std::int32_t>(option, value, 0, most_recorded_ranks - 1);
        else if (option == "--segment")
            call.segment_elements = integer<std::size_t>(option, value, 1, most_recorded_count);
        else if (option == "--fanout")
            call.fanout = integer<std::int32_t>(option, value, 1, most_ranks);
        else if (option == "--ranks-per-node")
            call.ranks_per_node = integer<std::int32_t>(option, value, 1, most_ranks);
        else if (option == "--imbalance")
            call.imbalance =
                static_cast<Imbalance>(choice(option, value, {imbalance_names.begin(), imbalance_names.end()}));
        else if (option == "--imbalance-seed")
            call.imbalance_seed = integer<std::uint64_t>(option, value, 0, std::numeric_limits<std::uint64_t>::max());
    }

    Options options_;
    std::set<std::string, std::less<>> seen_;
};

} // namespace

Options read_command_line(const std::vector<std::string> &arguments) {
    return Reader(mode_of(arguments), arguments).finish();
}

} // namespace collpress
