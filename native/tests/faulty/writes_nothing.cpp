// Returns without a result; what was in the buffer must not pass for one.
#include "linear.hpp"

static void run(const collpress_p2p *, const collpress_call *) {}

FAULTY_PLUGIN(run, "writes nothing")
