#include "p2p/reduction.hpp"

#include "core/types.hpp"

#include <concepts>
#include <type_traits>

namespace collpress {

namespace {

// Integers wrap around, as the machine does, without undefined behaviour: narrow ones would become int before they
// are multiplied, so all are calculated as the widest.
template <typename T, typename Calculate>
T calculated(T a, T b, Calculate &&calculate) {
    if constexpr (std::integral<T>)
        return static_cast<T>(calculate(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
    else if constexpr (Half<T>)
        return T(calculate(static_cast<float>(a), static_cast<float>(b)));
    else
        return calculate(a, b);
}

struct Sum {
    template <typename T>
    static T apply(T a, T b) {
        return calculated(a, b, [](auto x, auto y) { return x + y; });
    }
};

struct Product {
    template <typename T>
    static T apply(T a, T b) {
        return calculated(a, b, [](auto x, auto y) { return x * y; });
    }
};

struct Larger {
    template <typename T>
    static T apply(T a, T b) {
        return a < b ? b : a;
    }
};

struct Smaller {
    template <typename T>
    static T apply(T a, T b) {
        return b < a ? b : a;
    }
};

template <typename T, typename Operation>
void reduce(void *inout, const void *in, std::size_t count) {
    auto *__restrict to = static_cast<T *>(inout);
    const auto *__restrict from = static_cast<const T *>(in);
    for (std::size_t i = 0; i < count; ++i) to[i] = Operation::apply(to[i], from[i]);
}

} // namespace

Reduction reduction_of(collpress_dtype dtype, collpress_op op) {
    return with_type(dtype, [op]<typename T>(std::type_identity<T>) -> Reduction {
        switch (op) {
        case COLLPRESS_SUM:
            return reduce<T, Sum>;
        case COLLPRESS_MAX:
            return reduce<T, Larger>;
        case COLLPRESS_MIN:
            return reduce<T, Smaller>;
        case COLLPRESS_PROD:
            return reduce<T, Product>;
        }
        return nullptr;
    });
}

} // namespace collpress
