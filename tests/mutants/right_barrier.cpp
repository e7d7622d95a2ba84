// Right: what the mutants of barrier are made from.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *) { right::barrier(right::P2p(p2p)); }

COLLPRESS_ALGORITHM_PLUGIN("barrier", run, ({}), "right")
