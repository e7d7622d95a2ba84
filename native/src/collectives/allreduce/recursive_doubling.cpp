// Recursive doubling: in step k, ranks at distance 2^k exchange their whole vectors and reduce; ceil(log2 p) steps for
// powers of two.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521. When p is no power of two, r = p - 2^floor(log2 p)
// even ranks fold their vector into their right neighbour first and get the result from it at the end: two more steps.
#include "collpress/p2p.hpp"

namespace {

using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::size_t count = call->count;
    if (comm.size() == 1 || count == 0) {
        comm.copy(call->recv, call->send, count);
        return;
    }
    const std::int32_t rank = comm.rank();
    const std::int32_t active = collpress::largest_power_of_two(comm.size());
    const std::int32_t folded = comm.size() - active; // pairs (0,1), (2,3), ... of the first 2·folded ranks
    const bool in_pair = rank < 2 * folded;
    const bool idle = in_pair && rank % 2 == 0;
    const void *mine = call->send; // becomes recv with the first reduction: nothing is copied

    if (folded != 0) comm.step();
    if (in_pair) {
        if (idle) {
            comm.exchange(call->send, count, rank + 1, nullptr, 0, rank + 1);
        } else {
            comm.exchange(nullptr, 0, rank - 1, call->recv, count, rank - 1);
            comm.reduce(call->recv, call->send, count);
            mine = call->recv;
        }
    }

    const std::int32_t position = in_pair ? rank / 2 : rank - folded;
    const auto rank_at = [&](std::int32_t p) { return p < folded ? 2 * p + 1 : p + folded; };
    std::byte *scratch = nullptr;
    for (std::int32_t distance = 1; distance < active; distance *= 2) {
        comm.step();
        if (idle) continue;
        const std::int32_t partner = rank_at(position ^ distance);
        const bool first = mine == call->send;
        if (!first && scratch == nullptr) scratch = comm.scratch(comm.bytes(count));
        comm.exchange(mine, count, partner, first ? call->recv : scratch, count, partner);
        comm.reduce(call->recv, first ? mine : scratch, count);
        mine = call->recv;
    }

    if (folded != 0) comm.step();
    if (idle) comm.exchange(nullptr, 0, rank + 1, call->recv, count, rank + 1);
    if (in_pair && !idle) comm.exchange(call->recv, count, rank - 1, nullptr, 0, rank - 1);
}

constexpr collpress_algorithm interface = {"allreduce", 0, 1, 0, 0, run, nullptr};
constexpr collpress_plugin_t plugin = {COLLPRESS_ABI_VERSION, COLLPRESS_ALGORITHM,
                                       "Recursive doubling: whole vectors between ranks at distances 1, 2, 4, ...",
                                       &interface};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
