// A broadcast of one segment after another down a tree, all levels at work at once.
#ifndef COLLPRESS_SEGMENTED_BROADCAST_HPP
#define COLLPRESS_SEGMENTED_BROADCAST_HPP

#include "collpress/messages.hpp"
#include "collpress/segments.hpp"

#include <utility>
#include <vector>

namespace collpress {

// A rank's place in a tree. Ranks are those of the communicator.
struct TreePlace {
    std::int32_t depth;   // of this rank; 0: the root
    std::int32_t deepest; // of all ranks
    std::int32_t parent;
    std::vector<std::int32_t> children;
};

// In step t a rank of depth d receives segment t - d and passes segment t - d - 1 on: s - 1 + deepest steps for s
// segments. Messages may go on during the next step: two receives and two sends to each child are under way.
inline void segmented_broadcast(const P2p &comm, const collpress_call &call, const TreePlace &place) {
    const std::size_t segment = segment_elements(comm, call);
    const std::size_t segments = call.count / segment + (call.count % segment == 0 ? 0 : 1);
    if (segments == 0 || comm.size() == 1) return;
    const auto at = [&](std::int64_t index) { return comm.at(call.recv, static_cast<std::size_t>(index) * segment); };
    const auto size = [&](std::int64_t index) {
        return std::min(segment, call.count - static_cast<std::size_t>(index) * segment);
    };
    const auto exists = [&](std::int64_t index) { return index >= 0 && index < static_cast<std::int64_t>(segments); };

    const auto degree = static_cast<std::int32_t>(place.children.size());
    Messages receives(comm, 1);
    Messages earlier_receives(comm, 1);
    Messages sends(comm, degree);
    Messages earlier_sends(comm, degree);
    const std::int64_t steps = static_cast<std::int64_t>(segments) - 1 + place.deepest;
    for (std::int64_t step = 1; step <= steps; ++step) {
        comm.step();
        const std::int64_t in = step - place.depth;
        const std::int64_t out = in - 1;
        if (place.depth != 0 && exists(in)) receives.receive(at(in), size(in), place.parent);
        earlier_receives.complete();
        if (exists(out))
            for (const std::int32_t child : place.children) sends.send(at(out), size(out), child);
        earlier_sends.complete();
        std::swap(receives, earlier_receives);
        std::swap(sends, earlier_sends);
    }
    earlier_receives.complete();
    earlier_sends.complete();
}

} // namespace collpress

#endif
