// Tree: every rank tells its parent in a binomial tree when its subtree has come, and rank 0 lets all go, down the same
// tree; 2 ceil(log2 p) steps, 2 (p - 1) messages in all.
//
// J. M. Mellor-Crummey, M. L. Scott: Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors. ACM
// Trans. Comput. Syst. 9 (1991), doi:10.1145/103727.103729 (tree barriers: arrival and wake-up).
#include "collpress/block_trees.hpp"
#include "collpress/tokens.hpp"

namespace {

using collpress::Edge;

void run(const collpress_p2p *p2p, const collpress_call *) {
    const collpress::P2p comm(p2p);
    const collpress::BinomialTree tree(comm.size(), comm.rank());
    {
        CP_TAG(comm, "gather");
        for (std::int32_t step = 0; step < tree.steps(); ++step) {
            comm.step();
            const Edge edge = tree.edge(step);
            if (edge.kind == Edge::Kind::child) collpress::await_token(comm, edge.peer);
            if (edge.kind == Edge::Kind::parent) collpress::send_token(comm, edge.peer);
        }
    }
    CP_TAG(comm, "release");
    for (std::int32_t step = tree.steps(); step-- > 0;) {
        comm.step();
        const Edge edge = tree.edge(step);
        if (edge.kind == Edge::Kind::parent) collpress::await_token(comm, edge.peer);
        if (edge.kind == Edge::Kind::child) collpress::send_token(comm, edge.peer);
    }
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("barrier", run, {}, "Binomial tree up, then down")
