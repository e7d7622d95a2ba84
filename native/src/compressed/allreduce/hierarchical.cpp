// Hierarchical: each machine's ranks reduce to their first one, as they are; these leaders do a compressed allreduce
// around a ring, and give the result to their machines' ranks, as it is. Nothing is compressed within a machine, where
// memory is quicker than any codec.
//
// N. T. Karonis, B. R. de Supinski, I. Foster, W. Gropp, E. Lusk, J. Bresnahan: Exploiting Hierarchy in Parallel
// Computer Networks to Optimize Collective Operation Performance. IPDPS 2000, doi:10.1109/IPDPS.2000.846009; between
// the machines stream_ring.hpp. All leaders get the same bits, and all other ranks theirs.
#include "collpress/machines.hpp"
#include "collpress/stream_ring.hpp"
#include "collpress/vector_trees.hpp"

namespace {

using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::size_t count = call->count;
    const void *own = collpress::contribution_of(*call);
    if (comm.size() == 1 || count == 0) {
        if (own != call->recv) comm.copy(call->recv, own, count);
        return;
    }
    const collpress::Machines machines = collpress::machines_of(comm);
    const collpress::Team local(comm, machines.mine);
    const collpress::BinomialTree tree(local.size(), local.mine());
    const std::int32_t steps = collpress::BinomialTree(machines.largest, 0).steps(); // all machines take as many
    const auto leaders = static_cast<std::int32_t>(machines.leaders.size());
    collpress::PartialSum sum(comm, own, call->recv, count);

    {
        CP_TAG(comm, "reduce-in-machine");
        collpress::reduce_up(tree, comm, local, sum, count, steps);
    }
    if (leaders > 1 && local.mine() == 0) {
        const collpress::Team team(comm, machines.leaders);
        const std::int32_t mine = team.mine();
        const collpress::RingPlace place{leaders, mine, team.rank_at(mine - 1), team.rank_at((mine + 1) % leaders)};
        collpress::stream_ring_allreduce(comm, place, sum.at(0), call->recv, count,
                                         collpress::compressed_segment(*call));
    } else {
        for (std::int32_t step = 0; step < 2 * (leaders - 1); ++step) comm.step();
    }
    CP_TAG(comm, "bcast-in-machine");
    collpress::broadcast_down(tree, comm, local, call->recv, count, steps);
}

// Of n machines with one leader each the ring between them gives n·eb. How many there are is not known here: p at most,
// so this is the bound of the ring of all ranks, which on fewer machines is not reached.
double error_bound(std::int32_t ranks, std::uint32_t op, double max_abs, collpress_worst_error worst_error,
                   const void *codec_context) {
    if (ranks < 2) return 0;
    // A leader's sum may be of all other machines' ranks already: each compression may see all contributions.
    const collpress::AddedError added(op, max_abs, worst_error, codec_context);
    double error = 0;
    for (std::int32_t hop = 0; hop < ranks; ++hop) error += added(ranks, error);
    return error;
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("allreduce", run, error_bound, {.in_place = true},
                             "Hierarchical: plain within machines, a compressed ring between their leaders")
