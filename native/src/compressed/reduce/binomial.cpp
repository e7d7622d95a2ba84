// Binomial reduce: each rank adds its children's streams and compresses its sum for its parent.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.4 (the tree).
#include "collpress/block_trees.hpp"
#include "collpress/compressed.hpp"

namespace {

using collpress::Edge;
using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const bool is_root = comm.rank() == call->root;
    const void *own = collpress::contribution_of(*call);
    const std::size_t count = call->count;
    if (comm.size() == 1 || count == 0) {
        if (own != call->recv) comm.copy(call->recv, own, count);
        return;
    }
    const collpress::Team team(comm, call->root);
    const collpress::BinomialTree tree(team.size(), team.mine());
    void *work = is_root ? call->recv : nullptr;
    if (work == nullptr && !collpress::is_leaf(tree)) work = comm.scratch(comm.bytes(count));
    collpress::StreamedSum sum(comm, own, work, collpress::compressed_segment(*call), count);
    for (std::int32_t step = 0; step < tree.steps(); ++step) {
        comm.step();
        const Edge edge = tree.edge(step);
        const std::int32_t peer = team.rank_at(edge.peer);
        if (edge.kind == Edge::Kind::child) sum.receive_and_add(0, count, peer);
        if (edge.kind == Edge::Kind::parent) sum.send(0, count, peer);
    }
}

// Each rank but root compresses its partial sum once: (p - 1)·eb for a codec bounded by eb. A subtree of step l has at
// most 2^l ranks. A maximum passes on the errors of the longest way to root.
double error_bound(std::int32_t ranks, std::uint32_t op, double max_abs, collpress_worst_error worst_error,
                   const void *codec_context) {
    const collpress::AddedError added(op, max_abs, worst_error, codec_context);
    double partial = 0; // the largest error of a subtree's sum
    double total = 0;
    for (std::int32_t size = 1; size < ranks; size *= 2) {
        const std::int32_t subtrees = (ranks - 1 + size) / (2 * size); // whose roots are size, 3·size, 5·size, ...
        const double one = added(size, partial);
        total += added.is_sum() ? subtrees * one : one;
        partial = added.together(2, partial) + one;
    }
    return total;
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("reduce", run, error_bound, ({.in_place = true, .segments = true}),
                             "Binomial tree: each rank compresses its partial sum once")
