// The exact result of a reduction, in float64, chunk by chunk: the one source of it, for the check and for the metrics.
//
// float64 inputs are summed with compensation (Knuth's TwoSum). A NaN, or infinities of both signs, give NaN; an
// infinity gives that infinity. Where the sum of |x| is beyond the dtype's range, an order of additions exists that
// overflows: nothing can be expected of such elements.
#pragma once

#include "measure/data.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

namespace collpress {

inline constexpr std::size_t oracle_chunk = 4096; // all of a chunk's arrays fit the second-level cache

// For float and double. `i` counts from the beginning of the chunk that was computed last.
template <typename T>
class Oracle {
  public:
    Oracle(const DataSource &data, collpress_op op) : data_(data), op_(op) {}

    // At most oracle_chunk elements.
    void compute(std::size_t first, std::size_t length) {
        first_ = first;
        std::fill_n(value_.begin(), length, op_ == COLLPRESS_SUM ? 0.0 : -infinity);
        std::fill_n(correction_.begin(), length, 0.0);
        std::fill_n(magnitude_.begin(), length, 0.0);
        for (std::size_t rank = 0; rank < data_.ranks(); ++rank) {
            const T *values = data_.view(rank, first, length, buffer_.data());
            if (op_ == COLLPRESS_SUM)
                add(values, length);
            else
                keep_larger(values, length);
        }
    }

    // What the sum of |x| must stay below.
    double limit() const {
        return op_ == COLLPRESS_SUM ? static_cast<double>(std::numeric_limits<T>::max()) : infinity;
    }

    // Whether every rank's value is finite, and no order of additions overflows.
    bool comparable(std::size_t i) const { return magnitude_[i] < limit(); }

    double magnitude(std::size_t i) const { return magnitude_[i]; }

    // The exact result; NaN where it is that, or where nothing can be expected.
    double expected(std::size_t i) const {
        if (comparable(i)) return value_[i] + correction_[i];
        const Special found = special(i);
        if (found.nan) return not_a_number;
        if (op_ == COLLPRESS_MAX) return found.largest;
        if (found.positive == found.negative) return not_a_number;
        return found.positive ? infinity : -infinity;
    }

    // Those of the first `length` elements.
    void expected(std::size_t length, double *to) const {
        bool usual = true;
        for (std::size_t i = 0; i < length; ++i) {
            to[i] = value_[i] + correction_[i];
            usual &= comparable(i);
        }
        for (std::size_t i = 0; !usual && i < length; ++i) to[i] = expected(i);
    }

    // Whether the sum is NaN for certain.
    bool must_be_nan(std::size_t i) const {
        const Special found = special(i);
        return found.nan || (found.positive && found.negative);
    }

    // Whether `got` is one rank's value, give or take `distance`.
    bool any_near(std::size_t i, double got, double distance) const {
        bool near_one = false;
        each_rank(i, [&](double x) { near_one = near_one || x == got || std::fabs(x - got) <= distance; });
        return near_one;
    }

    // The whole chunk, for loops that vectorise: comparable elements are values + corrections.
    const double *values() const { return value_.data(); }
    const double *corrections() const { return correction_.data(); }
    const double *magnitudes() const { return magnitude_.data(); } // sum of |x|: also shows NaN and infinities

  private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

    struct Special {
        bool nan = false;
        bool positive = false; // infinities of either sign
        bool negative = false;
        double largest = -infinity;
    };

    Special special(std::size_t i) const {
        Special found;
        each_rank(i, [&](double x) {
            found.nan = found.nan || std::isnan(x);
            found.positive = found.positive || x == infinity;
            found.negative = found.negative || x == -infinity;
            found.largest = found.largest < x ? x : found.largest;
        });
        return found;
    }

    template <typename Look>
    void each_rank(std::size_t i, Look &&look) const {
        T one;
        for (std::size_t rank = 0; rank < data_.ranks(); ++rank) {
            look(static_cast<double>(*data_.view(rank, first_ + i, 1, &one)));
        }
    }

    void add(const T *values, std::size_t length) {
        for (std::size_t i = 0; i < length; ++i) {
            const double x = static_cast<double>(values[i]);
            magnitude_[i] += std::fabs(x);
            const double before = value_[i];
            const double sum = before + x;
            if constexpr (std::is_same_v<T, double>) {
                const double part = sum - before;
                correction_[i] += (before - (sum - part)) + (x - part);
            }
            value_[i] = sum;
        }
    }

    void keep_larger(const T *values, std::size_t length) {
        for (std::size_t i = 0; i < length; ++i) {
            const double x = static_cast<double>(values[i]);
            magnitude_[i] += std::fabs(x);
            value_[i] = value_[i] < x ? x : value_[i];
        }
    }

    const DataSource &data_;
    collpress_op op_;
    std::size_t first_ = 0;
    std::vector<double> value_ = std::vector<double>(oracle_chunk);
    std::vector<double> correction_ = std::vector<double>(oracle_chunk); // of compensated summation
    std::vector<double> magnitude_ = std::vector<double>(oracle_chunk);
    std::vector<T> buffer_ = std::vector<T>(oracle_chunk);
};

} // namespace collpress
