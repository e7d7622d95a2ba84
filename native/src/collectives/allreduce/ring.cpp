// Ring allreduce: p-1 steps of reduce-scatter, then p-1 steps of all-gather, each sending one block of n/p to the right
// neighbour.
//
// P. Patarasuk, X. Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations. J. Parallel Distrib.
// Comput. 69 (2009), doi:10.1016/j.jpdc.2008.09.002. Each rank sends 2(p-1) messages, 2(p-1)/p·n elements in all: the
// least that is possible.
#include "collpress/p2p.hpp"

namespace {

using collpress::Blocks;
using collpress::P2p;

// A partial sum arrives in its place in `recv`, where the rank's own contribution is added: nothing is copied, no
// scratch is needed.
void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::int32_t ranks = comm.size();
    if (ranks == 1 || call->count == 0) {
        comm.copy(call->recv, call->send, call->count);
        return;
    }
    const Blocks blocks{call->count, static_cast<std::size_t>(ranks)};
    const std::int32_t right = (comm.rank() + 1) % ranks;
    const std::int32_t left = (comm.rank() + ranks - 1) % ranks;
    const auto behind = [&](std::int32_t steps) { // the block that started `steps` ranks to the left
        return static_cast<std::size_t>((comm.rank() + 2 * ranks - steps) % ranks);
    };

    CP_TAG_BEGIN(p2p, "reduce-scatter");
    for (std::int32_t step = 0; step < ranks - 1; ++step) {
        comm.step();
        const std::size_t out = behind(step);
        const std::size_t in = behind(step + 1);
        const void *source = step == 0 ? call->send : call->recv;
        comm.exchange(comm.at(source, blocks.offset(out)), blocks.size(out), right,
                      comm.at(call->recv, blocks.offset(in)), blocks.size(in), left);
        comm.reduce(comm.at(call->recv, blocks.offset(in)), comm.at(call->send, blocks.offset(in)), blocks.size(in));
    }
    CP_TAG_END(p2p);
    CP_TAG_BEGIN(p2p, "allgather");
    for (std::int32_t step = 0; step < ranks - 1; ++step) {
        comm.step();
        const std::size_t out = behind(step - 1);
        const std::size_t in = behind(step);
        comm.exchange(comm.at(call->recv, blocks.offset(out)), blocks.size(out), right,
                      comm.at(call->recv, blocks.offset(in)), blocks.size(in), left);
    }
    CP_TAG_END(p2p);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, {}, "Ring: reduce-scatter, then all-gather, between neighbours")
