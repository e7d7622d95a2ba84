// The command line; see docs/contracts.md, "The core's command line".
#pragma once

#include "measure/samples.hpp"
#include "p2p/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace collpress {

struct Options {
    enum class Mode { measure, describe, offers, schedule, check, prove, help };

    Mode mode = Mode::help;
    std::vector<std::string> plugins; // --describe, --schedule, --check
    std::string plan;
    std::string journal;
    std::string references; // --prove: the folder of our algorithms; empty: none
    std::int64_t launch = 0;
    std::int64_t attempt = 0;
    std::uint64_t seed = 0;
    std::int32_t ranks = 0;
    std::string samples;
    SamplesMode samples_mode = SamplesMode::none;
    std::string traces; // a file; empty: none
    ScheduledCall call; // --schedule, all but the collective; --check, its ranks
};

class UsageError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

extern const char *const usage_text;

Options read_command_line(const std::vector<std::string> &arguments);

} // namespace collpress
