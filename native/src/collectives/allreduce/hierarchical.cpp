// Hierarchical: each machine's ranks reduce to their first one, these leaders do an allreduce among themselves, and
// give the result to their machines' ranks.
//
// N. T. Karonis, B. R. de Supinski, I. Foster, W. Gropp, E. Lusk, J. Bresnahan: Exploiting Hierarchy in Parallel
// Computer Networks to Optimize Collective Operation Performance. IPDPS 2000, doi:10.1109/IPDPS.2000.846009. Binomial
// trees within machines, Rabenseifner's algorithm between them: as much goes into a machine and out of it as if it had
// one rank.
#include "collpress/butterfly.hpp"
#include "collpress/vector_trees.hpp"

#include <vector>

namespace {

using collpress::P2p;

struct Machines {
    std::vector<std::int32_t> mine;    // ranks of this rank's machine
    std::vector<std::int32_t> leaders; // first rank of each
    std::int32_t largest = 0;          // ranks of the largest
};

Machines machines_of(const P2p &comm) {
    Machines found;
    std::vector<std::int32_t> sizes;
    for (std::int32_t rank = 0; rank < comm.size(); ++rank) {
        const std::int32_t node = comm.node(rank);
        if (node == static_cast<std::int32_t>(sizes.size())) {
            sizes.push_back(0);
            found.leaders.push_back(rank);
        }
        ++sizes[static_cast<std::size_t>(node)];
        if (node == comm.node(comm.rank())) found.mine.push_back(rank);
    }
    found.largest = *std::max_element(sizes.begin(), sizes.end());
    return found;
}

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::size_t count = call->count;
    const void *own = collpress::contribution_of(*call);
    if (comm.size() == 1 || count == 0) {
        if (own != call->recv) comm.copy(call->recv, own, count);
        return;
    }
    const Machines machines = machines_of(comm);
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
