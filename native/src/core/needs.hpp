// What an algorithm of ours needs of a point, and the bounds of one that compresses.
#pragma once

#include "collpress/algorithm.h"
#include "core/plan.hpp"
#include "measure/data.hpp"

#include <cstddef>
#include <string>

namespace collpress {

// Why the algorithm cannot do what the point asks for; empty where it can.
std::string refusal_of(const collpress_algorithm &algorithm, const PlanPoint &point, std::size_t ranks);

// The bound that was asked for. A relative one is relative to the range of all finite values of all ranks; constant
// data have none: then relative to their magnitude, and for zeros to 1. Never below the smallest normal number of the
// dtype, so that 1/bound is finite.
double absolute_bound(const PlanPoint &point, const ValueRange &range);

// What the codec is given: that bound, or, where it is of the result, the largest with which the algorithm keeps it.
// Throws PointError where there is none.
double bound_of_codec(const PlanPoint &point, const collpress_algorithm &algorithm, int ranks, double asked,
                      const ValueRange &range);

} // namespace collpress
