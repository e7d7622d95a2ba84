// Ends in an abort on rank 1.
#include "linear.hpp"

#include <cstdlib>

static void run(const collpress_p2p *p2p, const collpress_call *) {
    if (p2p->rank == 1) std::abort();
}

FAULTY_PLUGIN(run, "aborts on rank 1")
