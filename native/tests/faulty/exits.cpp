// Ends the process on rank 1, silently.
#include "linear.hpp"

#include <unistd.h>

static void run(const collpress_p2p *p2p, const collpress_call *) {
    if (p2p->rank == 1) _exit(3);
}

FAULTY_PLUGIN(run, "exits on rank 1")
