// Right on its first call; returns at once from the second call on, with the
// old result in the buffer.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    static int calls = 0; // plugins must not do this
    const right::P2p comm(p2p);
    if (++calls == 1) right::allreduce(comm, *call);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "works once")
