#include "p2p/reduction.hpp"

#include <cstdint>

namespace collpress {

namespace {

template <typename T, typename Operation>
void reduce(void *inout, const void *in, std::size_t count) {
    auto *__restrict to = static_cast<T *>(inout);
    const auto *__restrict from = static_cast<const T *>(in);
    for (std::size_t i = 0; i < count; ++i) to[i] = Operation::apply(to[i], from[i]);
}

struct Sum {
    template <typename T>
    static T apply(T a, T b) {
        return a + b;
    }
    // Wraps around, as the machine does, without undefined behaviour.
    static std::int32_t apply(std::int32_t a, std::int32_t b) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
    }
};

struct Max {
    template <typename T>
    static T apply(T a, T b) {
        return a < b ? b : a;
    }
};

template <typename T>
Reduction pick(collpress_op op) {
    return op == COLLPRESS_SUM ? reduce<T, Sum> : reduce<T, Max>;
}

} // namespace

Reduction reduction_of(collpress_dtype dtype, collpress_op op) {
    switch (dtype) {
    case COLLPRESS_FLOAT32:
        return pick<float>(op);
    case COLLPRESS_FLOAT64:
        return pick<double>(op);
    case COLLPRESS_INT32:
        return pick<std::int32_t>(op);
    }
    return nullptr;
}

} // namespace collpress
