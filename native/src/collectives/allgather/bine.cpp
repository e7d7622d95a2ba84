// Bine butterfly: as recursive doubling, but from the farthest partner to the nearest, and none much farther than a
// third of the ranks, so that most data go a short way; log2 p steps and p-1 blocks sent per rank for powers of two.
//
// D. De Sensi, S. Pasqualoni, L. Piarulli, T. Bonato, S. Ba, M. Turisini, J. Domke, T. Hoefler: Bine Trees: Enhancing
// Collective Operations by Optimizing Communication Locality. SC 2025, doi:10.1145/3712285.3759835 (distance-halving
// butterfly, block by block: each block is a message of its own straight into its place). Surplus ranks beyond a power
// of two give their blocks to a neighbour first and get the result at the end, as in recursive_doubling.cpp: two more
// steps.
#include "collpress/bine.hpp"
#include "collpress/messages.hpp"
#include "collpress/paired_allgather.hpp"

namespace {

using collpress::bine_partner;
using collpress::P2p;
using collpress::PairedRanks;

// Calls visit(q) for each position whose blocks a position has before the exchange at `level`: itself, and what it got
// from its partner at every level above.
template <class Visit>
void each_held(std::int32_t position, std::int32_t level, std::int32_t levels, const Visit &visit) {
    if (level == levels - 1) return visit(position);
    each_held(position, level + 1, levels, visit);
    each_held(bine_partner(position, level + 1, 1 << levels), level + 1, levels, visit);
}

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    paired_allgather(comm, *call, [&](const PairedRanks &places, bool participates) {
        const auto first_block = [&](std::int32_t position) {
            return static_cast<std::size_t>(places.rank_at(position)) * call->count;
        };
        const auto blocks = [&](std::int32_t position) { return first_block(position + 1) - first_block(position); };
        const std::int32_t position = places.position(comm.rank());
        std::int32_t levels = 0;
        while ((1 << levels) < places.positions()) ++levels;
        collpress::Messages messages(comm, places.positions());
        for (std::int32_t level = levels; level-- > 0;) {
            comm.step();
            if (!participates) continue;
            const std::int32_t partner = bine_partner(position, level, places.positions());
            const std::int32_t peer = places.rank_at(partner);
            each_held(partner, level, levels, [&](std::int32_t held) {
                messages.receive(comm.at(call->recv, first_block(held)), blocks(held), peer);
            });
            each_held(position, level, levels, [&](std::int32_t held) {
                messages.send(comm.at(call->recv, first_block(held)), blocks(held), peer);
            });
            messages.complete();
        }
    });
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allgather", run, {.in_place = true},
                           "Bine butterfly: block by block, from the farthest partner to the nearest")
