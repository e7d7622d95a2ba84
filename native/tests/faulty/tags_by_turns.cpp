// Right, but its phases change from call to call, and one ends that did not begin.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    static int calls = 0; // plugins must not do this
    const collpress::P2p comm(p2p);
    const int turn = calls++ % 3;
    if (turn != 1) {
        CP_TAG(comm, "first");
        comm.copy(call->recv, call->send, comm.bytes(call->count));
    }
    if (turn != 0) {
        CP_TAG(comm, "second");
        comm.copy(call->recv, call->send, comm.bytes(call->count));
    }
    if (turn == 2) CP_TAG_END(p2p);
    CP_TAG(comm, "all");
    faulty::linear(comm, call);
}

FAULTY_PLUGIN(run, "tags by turns")
