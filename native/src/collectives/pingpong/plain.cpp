// Ping-pong between the first and the last rank: rank 0 sends its vector, then gets the other one's; two steps.
//
// The classical measurement of latency and bandwidth: R. W. Hockney: The Communication Challenge for MPP: Intel Paragon
// and Meiko CS-2. Parallel Comput. 20 (1994), doi:10.1016/S0167-8191(06)80021-9. Half of the time is that of one
// message.
#include "collpress/p2p.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const std::int32_t last = comm.size() - 1;
    if (last == 0) {
        comm.copy(call->recv, call->send, call->count);
        return;
    }
    const bool first = comm.rank() == 0;
    const std::int32_t peer = first ? last : 0;
    for (const bool first_sends : {true, false}) {
        comm.step();
        if (!first && comm.rank() != last) continue;
        if (first == first_sends)
            comm.exchange(call->send, call->count, peer, nullptr, 0, peer);
        else
            comm.exchange(nullptr, 0, peer, call->recv, call->count, peer);
    }
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("pingpong", run, {}, "Ping-pong: a vector there, a vector back")
