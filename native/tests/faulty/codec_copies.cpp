// Not faulty: the copy that the others are made from, for every dtype.
#include "codec.hpp"

FAULTY_CODEC(faulty::copy, "copies")
