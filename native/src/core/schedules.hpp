// --schedule and --check: what algorithms do, without MPI, as JSON; see docs/contracts.md.
#pragma once

#include "core/command_line.hpp"

namespace collpress {

// Who sends what to whom in one call. Throws UsageError for a call that the algorithm does not take.
void print_schedule(const Options &options);

// Verdicts on every kind of call that the algorithm takes, on 1 rank, 2, ... up to --ranks.
void print_check(const Options &options);

} // namespace collpress
