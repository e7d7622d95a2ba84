// How long the messages are that a vector is cut into.
#ifndef COLLPRESS_SEGMENTS_HPP
#define COLLPRESS_SEGMENTS_HPP

#include "collpress/p2p.hpp"

namespace collpress {

// Where a campaign names no size: what Open MPI up to 4.0 took for pipelines of long messages.
inline constexpr std::size_t usual_segment_bytes = std::size_t{128} * 1024;

// Elements of a segment, one at least.
inline std::size_t segment_elements(const P2p &comm, const collpress_call &call) {
    if (call.segment_elements != 0) return call.segment_elements;
    return std::max<std::size_t>(1, usual_segment_bytes / comm.bytes(1));
}

} // namespace collpress

#endif
