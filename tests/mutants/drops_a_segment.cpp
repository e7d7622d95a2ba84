// The second segment is dropped.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    const std::size_t longest = call->segment_elements == 0 ? call->count : call->segment_elements;
    for (std::size_t first = 0; first < call->count; first += longest) {
        collpress_call segment = *call;
        segment.send = comm.at(call->send, first);
        segment.recv = comm.at(call->recv, first);
        segment.count = std::min(longest, call->count - first);
        if (first != longest) right::allreduce(comm, segment);
    }
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({.segments = true}), "drops a segment")
