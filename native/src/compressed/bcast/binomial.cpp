// Binomial broadcast of one stream: root compresses once, everybody passes the stream on as it is and unpacks it
// meanwhile. The Z-Bcast of J. Huang et al. (C-Coll, IPDPS 2024, doi:10.1109/IPDPS57955.2024.00072).
//
// Root keeps its values as they are: its buffer is its input. All other ranks end with the same bits.
#include "collpress/block_trees.hpp"
#include "collpress/compressed.hpp"

namespace {

using collpress::Edge;
using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    if (comm.size() == 1 || call->count == 0) return;
    const bool is_root = comm.rank() == call->root;
    const collpress::Team team(comm, call->root);
    const collpress::BinomialTree tree(team.size(), team.mine());
    collpress::Stream stream(comm, call->count);
    std::vector<collpress_request> sends;
    for (std::int32_t step = tree.steps(); step-- > 0;) {
        comm.step();
        const Edge edge = tree.edge(step);
        const std::int32_t peer = team.rank_at(edge.peer);
        if (edge.kind == Edge::Kind::parent) {
            stream.receive(comm, call->count, peer);
            stream.arrive(comm);
        } else if (edge.kind == Edge::Kind::child) {
            if (is_root && sends.empty()) stream.compress(comm, call->recv, call->count);
            sends.push_back(comm.send_bytes(stream.data, stream.bytes, peer));
        }
    }
    if (!is_root) stream.decompress(comm, call->recv, call->count);
    for (const collpress_request request : sends) comm.wait(request);
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("bcast", run, collpress::error_of_moving, {},
                             "Binomial tree of one stream; root keeps its values")
