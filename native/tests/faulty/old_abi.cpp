// Compiled for an ABI that this core does not have.
#include "linear.hpp"

static constexpr collpress_algorithm interface_ = {"allreduce", 0, 1, 0, 0, nullptr, nullptr, 0, 0, 0, 0};
static constexpr collpress_plugin_t plugin_ = {COLLPRESS_ABI_VERSION + 41, COLLPRESS_ALGORITHM, "old", &interface_};
extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin_; }
