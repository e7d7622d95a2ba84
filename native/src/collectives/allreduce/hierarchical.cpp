// Hierarchical: each machine's ranks reduce to their first one, these leaders do an allreduce among themselves, and
// give the result to their machines' ranks.
//
// N. T. Karonis, B. R. de Supinski, I. Foster, W. Gropp, E. Lusk, J. Bresnahan: Exploiting Hierarchy in Parallel
// Computer Networks to Optimize Collective Operation Performance. IPDPS 2000, doi:10.1109/IPDPS.2000.846009. Binomial
// trees within machines, Rabenseifner's algorithm between them: as much goes into a machine and out of it as if it had
// one rank.
#include "collpress/butterfly.hpp"
#include "collpress/machines.hpp"
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
    collpress::PartialSum sum(comm, own, call->recv, count);

    {
        CP_TAG(comm, "reduce-in-machine");
        collpress::reduce_up(tree, comm, local, sum, count, steps);
    }
    {
        CP_TAG(comm, "allreduce-of-leaders");
        if (local.mine() == 0) {
            collpress::halving_allreduce<collpress::NearestFirst>(comm, collpress::Team(comm, machines.leaders), sum,
                                                                  call->recv, count);
        } else {
            const auto leaders = static_cast<std::int32_t>(machines.leaders.size());
            for (std::int32_t step = 0; step < collpress::halving_allreduce_steps(leaders); ++step) comm.step();
        }
    }
    CP_TAG(comm, "bcast-in-machine");
    collpress::broadcast_down(tree, comm, local, call->recv, count, steps);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, {.in_place = true},
                           "Hierarchical: within machines, between their leaders, within machines")
