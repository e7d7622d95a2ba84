// Rabenseifner's algorithm: reduce-scatter by recursive halving of the vector, then all-gather by recursive doubling.
//
// R. Rabenseifner: Optimization of Collective Reduction Operations. ICCS 2004, doi:10.1007/978-3-540-24685-5_1; and R.
// Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521. 2·log2 p steps and 2(p-1)/p·n elements sent per rank
// for powers of two; otherwise r = p - 2^floor(log2 p) even ranks fold into their right neighbour first and get the
// result from it at the end, as in recursive doubling.
#include "collpress/p2p.hpp"

#include <array>

namespace {

using collpress::Blocks;
using collpress::P2p;
using collpress::SurplusFold;

struct Range { // of blocks [first, last)
    std::size_t first;
    std::size_t last;
};

struct Halves {
    Range kept;
    Range given;
};

Halves split(Range range, bool keep_lower) {
    const std::size_t middle = range.first + (range.last - range.first) / 2;
    const Range lower{range.first, middle};
    const Range upper{middle, range.last};
    return keep_lower ? Halves{lower, upper} : Halves{upper, lower};
}

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::size_t count = call->count;
    if (comm.size() == 1 || count == 0) {
        comm.copy(call->recv, call->send, count);
        return;
    }
    const SurplusFold surplus(comm, *call);
    const std::int32_t active = surplus.active();
    const void *mine = surplus.fold(); // becomes recv with the first reduction: nothing is copied

    const Blocks blocks{count, static_cast<std::size_t>(active)};
    const auto size = [&](Range range) { return blocks.size(range.first, range.last); };
    const auto in_recv = [&](Range range) { return comm.at(call->recv, blocks.offset(range.first)); };
    const std::int32_t position = surplus.position();
    std::array<Halves, 32> done{};
    std::size_t depth = 0;
    Range range{0, static_cast<std::size_t>(active)};

    std::byte *scratch = nullptr; // the first use is the largest
    // The first exchange is with the nearest rank and moves half of the vector, the last one with the farthest and
    // moves a p-th.
    for (std::int32_t distance = 1; distance < active; distance *= 2) {
        comm.step();
        const Halves halves = split(range, (position & distance) == 0);
        done[depth++] = halves;
        range = halves.kept;
        if (surplus.idle()) continue;
        const std::int32_t partner = surplus.rank_at(position ^ distance);
        const std::size_t kept = size(halves.kept);
        const bool first = mine == call->send;
        if (!first && scratch == nullptr) scratch = comm.scratch(comm.bytes(kept));
        std::byte *arrival = first ? in_recv(halves.kept) : scratch;
        comm.exchange(comm.at(mine, blocks.offset(halves.given.first)), size(halves.given), partner, arrival, kept,
                      partner);
        comm.reduce(in_recv(halves.kept), first ? comm.at(call->send, blocks.offset(halves.kept.first)) : arrival,
                    kept);
        mine = call->recv;
    }
    for (std::int32_t distance = active / 2; distance > 0; distance /= 2) {
        comm.step();
        const Halves halves = done[--depth];
        if (surplus.idle()) continue;
        const std::int32_t partner = surplus.rank_at(position ^ distance);
        comm.exchange(in_recv(halves.kept), size(halves.kept), partner, in_recv(halves.given), size(halves.given),
                      partner);
    }

    surplus.unfold();
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, {}, "Rabenseifner: recursive halving, then recursive doubling")
