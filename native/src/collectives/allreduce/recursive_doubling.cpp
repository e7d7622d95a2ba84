// Recursive doubling: in step k, ranks at distance 2^k exchange their whole vectors and reduce; ceil(log2 p) steps for
// powers of two.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521. When p is no power of two, r = p - 2^floor(log2 p)
// even ranks fold their vector into their right neighbour first and get the result from it at the end: two more steps.
#include "collpress/p2p.hpp"

namespace {

using collpress::P2p;
using collpress::SurplusFold;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::size_t count = call->count;
    if (comm.size() == 1 || count == 0) {
        comm.copy(call->recv, call->send, count);
        return;
    }
    const SurplusFold surplus(comm, *call);
    const std::int32_t active = surplus.active();
    const void *mine = surplus.fold(); // becomes recv with the first reduction: nothing is copied

    const std::int32_t position = surplus.position();
    std::byte *scratch = nullptr;
    for (std::int32_t distance = 1; distance < active; distance *= 2) {
        comm.step();
        if (surplus.idle()) continue;
        const std::int32_t partner = surplus.rank_at(position ^ distance);
        const bool first = mine == call->send;
        if (!first && scratch == nullptr) scratch = comm.scratch(comm.bytes(count));
        comm.exchange(mine, count, partner, first ? call->recv : scratch, count, partner);
        comm.reduce(call->recv, first ? mine : scratch, count);
        mine = call->recv;
    }

    surplus.unfold();
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, {},
                           "Recursive doubling: whole vectors between ranks at distances 1, 2, 4, ...")
