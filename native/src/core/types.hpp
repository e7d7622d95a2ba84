// The element types: their names in plans and records, and the C++ type of each.
#pragma once

#include "collpress/half.hpp"
#include "collpress/plugin.h"

#include <array>
#include <cfloat>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace collpress {

struct Dtype {
    collpress_dtype id;
    std::string_view name;
    std::size_t bytes;
};

inline constexpr std::array<Dtype, 8> dtypes = {
    Dtype{COLLPRESS_FLOAT32, "float32", 4}, Dtype{COLLPRESS_FLOAT64, "float64", 8},  Dtype{COLLPRESS_INT32, "int32", 4},
    Dtype{COLLPRESS_INT8, "int8", 1},       Dtype{COLLPRESS_INT16, "int16", 2},      Dtype{COLLPRESS_INT64, "int64", 8},
    Dtype{COLLPRESS_FLOAT16, "float16", 2}, Dtype{COLLPRESS_BFLOAT16, "bfloat16", 2}};

inline constexpr std::array<std::string_view, 4> op_names = {"sum", "max", "min", "prod"}; // by collpress_op

constexpr bool is_integer(collpress_dtype dtype) {
    return dtype == COLLPRESS_INT32 || dtype == COLLPRESS_INT8 || dtype == COLLPRESS_INT16 || dtype == COLLPRESS_INT64;
}

// Calls use(std::type_identity<T>) with the C++ type of the dtype.
template <typename Use>
decltype(auto) with_type(collpress_dtype dtype, Use &&use) {
    switch (dtype) {
    case COLLPRESS_FLOAT64:
        return use(std::type_identity<double>());
    case COLLPRESS_INT32:
        return use(std::type_identity<std::int32_t>());
    case COLLPRESS_INT8:
        return use(std::type_identity<std::int8_t>());
    case COLLPRESS_INT16:
        return use(std::type_identity<std::int16_t>());
    case COLLPRESS_INT64:
        return use(std::type_identity<std::int64_t>());
    case COLLPRESS_FLOAT16:
        return use(std::type_identity<Float16>());
    case COLLPRESS_BFLOAT16:
        return use(std::type_identity<BFloat16>());
    case COLLPRESS_FLOAT32:
        break;
    }
    return use(std::type_identity<float>());
}

template <typename T>
concept Half = std::same_as<T, Float16> || std::same_as<T, BFloat16>;

// What a floating-point type can hold.
template <typename T>
struct Precision {
    static constexpr double unit = std::numeric_limits<T>::epsilon() / 2; // largest relative error of a rounding
    static constexpr double largest = std::numeric_limits<T>::max();
    static constexpr double smallest_normal = std::numeric_limits<T>::min();
};
// Sums of halves are made in float and rounded once more: a little more than half a unit in the last place.
template <>
struct Precision<Float16> {
    static constexpr double unit = 0x1p-11 * (1 + 0x1p-11);
    static constexpr double largest = 65504;
    static constexpr double smallest_normal = 0x1p-14;
};
template <>
struct Precision<BFloat16> {
    static constexpr double unit = 0x1p-8 * (1 + 0x1p-14);
    static constexpr double largest = 0x1.FEp127;
    static constexpr double smallest_normal = FLT_MIN;
};

} // namespace collpress
