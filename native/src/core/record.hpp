// The journal's lines; their schema is in docs/contracts.md, "Journal".
#pragma once

#include "core/plan.hpp"
#include "core/report.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace collpress {

struct LaunchIdentity {
    std::int64_t launch;
    std::int64_t attempt;
};

// "2026-01-31T12:00:00.000000Z"
std::string utc_now();

// "begin" and "end" lines; `key` is empty for an end.
std::string mark_line(const char *kind, const LaunchIdentity &launch, const std::string &key);

std::string record_line(const LaunchIdentity &launch, const PlanPoint &point, const PointReport &report,
                        std::size_t order, double elapsed_s);

} // namespace collpress
