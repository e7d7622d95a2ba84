// Returns at once in its fifth call only, the last timed one.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    static int calls = 0; // plugins must not do this
    const right::P2p comm(p2p);
    if (++calls != 5) right::allreduce(comm, *call);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "skips the last")
