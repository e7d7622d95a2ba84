// An algorithm of a collective that there is not.
#include "collpress/p2p.hpp"

static void run(const collpress_p2p *, const collpress_call *) {}

COLLPRESS_ALGORITHM_PLUGIN("alreduce", run, {}, "of an unknown collective")
