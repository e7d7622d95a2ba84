// Measuring one point: prepare, check, warm up, time, attribute, check again.
#pragma once

#include "core/plan.hpp"
#include "core/report.hpp"
#include "core/session.hpp"

namespace collpress {

// Collective. Whatever goes wrong on any rank becomes the same verdict on all; nothing is left waiting.
PointReport measure_point(Session &session, const PlanPoint &point);

} // namespace collpress
