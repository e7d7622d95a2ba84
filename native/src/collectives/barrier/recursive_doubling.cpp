// Recursive doubling: in step k, ranks at distance 2^k tell each other of all that they know; log2 p steps for powers
// of two.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.5, without data. When p is no
// power of two, surplus ranks tell a neighbour first and hear from it at the end: two more steps.
#include "collpress/paired_ranks.hpp"
#include "collpress/tokens.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *) {
    const collpress::P2p comm(p2p);
    const collpress::PairedRanks pairs(comm.size());
    const std::int32_t rank = comm.rank();
    const bool surplus = pairs.is_surplus(rank);
    const auto between_pairs = [&](bool to_surplus) {
        if (!pairs.any_surplus()) return;
        comm.step();
        if (!pairs.in_pair(rank)) return;
        if (surplus == to_surplus)
            collpress::await_token(comm, rank ^ 1);
        else
            collpress::send_token(comm, rank ^ 1);
    };
    {
        CP_TAG(comm, "fold");
        between_pairs(false);
    }
    {
        CP_TAG(comm, "exchange");
        for (std::int32_t distance = 1; distance < pairs.positions(); distance *= 2) {
            comm.step();
            if (!surplus) collpress::swap_tokens(comm, pairs.rank_at(pairs.position(rank) ^ distance));
        }
    }
    CP_TAG(comm, "unfold");
    between_pairs(true);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("barrier", run, {}, "Recursive doubling without data")
