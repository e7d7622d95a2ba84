#include "backends/mpi/controls.hpp"

namespace collpress {

std::string unmet(const LibraryNeeds &needs, const CallShape &call) {
    if (needs.exactly_ranks != 0 && call.ranks != needs.exactly_ranks)
        return "runs on " + std::to_string(needs.exactly_ranks) + " ranks only";
    if (needs.power_of_two_ranks && (call.ranks & (call.ranks - 1)) != 0) return "needs a power of two of ranks";
    if (needs.even_ranks && call.ranks % 2 != 0) return "needs an even number of ranks";
    if (needs.count_at_least_ranks && call.count < call.ranks) return "needs at least as many elements as ranks";
    if (needs.count_multiple_of_ranks && call.count % call.ranks != 0) return "needs equal blocks";
    if (needs.in_place.has_value() && *needs.in_place != call.in_place)
        return call.in_place ? "serves no calls in place" : "works in place only";
    return "";
}

} // namespace collpress
