// Tree: binomial reduction to rank 0, then binomial broadcast from it, one after the other; 2 ceil(log2 p) steps.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.2 and 4.5 (the binomial
// trees). Every rank but 0 sends the vector once up; each edge carries it once down.
#include "collpress/vector_trees.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const void *own = collpress::contribution_of(*call);
    if (comm.size() == 1 || call->count == 0) {
        if (own != call->recv) comm.copy(call->recv, own, call->count);
        return;
    }
    const collpress::Team team(comm);
    const collpress::BinomialTree tree(team.size(), team.mine());
    collpress::PartialSum sum(comm, own, call->recv, call->count);
    {
        CP_TAG(comm, "reduce");
        collpress::reduce_up(tree, comm, team, sum, call->count, tree.steps());
    }
    CP_TAG(comm, "bcast");
    collpress::broadcast_down(tree, comm, team, call->recv, call->count, tree.steps());
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, {.in_place = true}, "Binomial tree up, then down")
