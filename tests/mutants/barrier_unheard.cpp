// Rank 1 is not waited for.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *) { right::barrier(right::P2p(p2p), 1); }

COLLPRESS_ALGORITHM_PLUGIN("barrier", run, ({}), "does not wait for rank 1")
