// inout[i] = inout[i] OP in[i], for every dtype and operation.
#pragma once

#include "collpress/plugin.h"

#include <cstddef>

namespace collpress {

using Reduction = void (*)(void *inout, const void *in, std::size_t count);

Reduction reduction_of(collpress_dtype dtype, collpress_op op);

} // namespace collpress
