// Not faulty: promises nothing, loses nothing.
#include "codec.hpp"

#include <limits>

static double worst_error(const void *, double) { return std::numeric_limits<double>::infinity(); }

static constexpr collpress_codec codec = {
    7,           0,      0, faulty::create, faulty::destroy, faulty::max_bytes, faulty::compress, faulty::decompress,
    worst_error, nullptr};

FAULTY_CODEC(codec, "copies without a promise")
