// The exact result of a reduction, in float64, chunk by chunk: the one source of it, for the check and for the metrics.
//
// float64 inputs are summed with compensation (Knuth's TwoSum). A NaN, or infinities of both signs, give NaN; an
// infinity gives that infinity. Where the sum of |x| is beyond the dtype's range, an order of additions exists that
// overflows: nothing can be expected of such elements. So it is with products of which an order of multiplications
// exists that leaves the range of normal numbers, upwards or downwards. What one rank sent is the maximum over that
// rank.
#pragma once

#include "core/types.hpp"
#include "measure/data.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

namespace collpress {

inline constexpr std::size_t oracle_chunk = 4096; // all of a chunk's arrays fit the second-level cache

// For floating-point types. `i` counts from the beginning of the chunk that was computed last.
template <typename T>
class Oracle {
  public:
    explicit Oracle(const DataSource &data) : data_(data) {}

    // The reduction over the ranks [from, from_end) from now on.
    void over(std::size_t from, std::size_t from_end, collpress_op op) {
        from_ = from;
        from_end_ = from_end;
        op_ = from_end - from == 1 ? COLLPRESS_MAX : op;
    }
    collpress_op op() const { return op_; }
    std::size_t operands() const { return from_end_ - from_; }

    // Of at most oracle_chunk elements of the contributions, from `first` on.
    void compute(std::size_t first, std::size_t length) {
        first_ = first;
        std::fill_n(value_.begin(), length, neutral());
        std::fill_n(correction_.begin(), length, 0.0);
        std::fill_n(magnitude_.begin(), length, 0.0);
        if (op_ == COLLPRESS_PROD) {
            std::fill_n(up_.begin(), length, 1.0);
            std::fill_n(down_.begin(), length, 1.0);
        }
        for (std::size_t rank = from_; rank < from_end_; ++rank) {
            const T *values = data_.view(rank, first, length, buffer_.data());
            switch (op_) {
            case COLLPRESS_SUM:
                add(values, length);
                break;
            case COLLPRESS_MAX:
                keep(values, length, [](double x, double best) { return best < x; });
                break;
            case COLLPRESS_MIN:
                keep(values, length, [](double x, double best) { return x < best; });
                break;
            case COLLPRESS_PROD:
                multiply(values, length);
                break;
            }
        }
        if (op_ == COLLPRESS_PROD) judge_products(length);
    }

    // What magnitudes must stay below.
    double limit() const { return op_ == COLLPRESS_SUM ? Precision<T>::largest : infinity; }

    // Whether every rank's value is finite, and no order of operations leaves the range.
    bool comparable(std::size_t i) const { return magnitude_[i] < limit(); }

    double magnitude(std::size_t i) const { return magnitude_[i]; }

    // The exact result; NaN where it is that, or where nothing can be expected.
    double expected(std::size_t i) const {
        if (comparable(i)) return value_[i] + correction_[i];
        const Special found = special(i);
        if (found.nan || op_ == COLLPRESS_PROD) return not_a_number;
        if (op_ == COLLPRESS_MAX) return found.largest;
        if (op_ == COLLPRESS_MIN) return found.smallest;
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

    // Whether the result is NaN for certain.
    bool must_be_nan(std::size_t i) const {
        const Special found = special(i);
        return found.nan || (op_ == COLLPRESS_SUM && found.positive && found.negative);
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
    // The sum of |x|, or |product|: also shows NaN and infinities.
    const double *magnitudes() const { return magnitude_.data(); }

  private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

    struct Special {
        bool nan = false;
        bool positive = false; // infinities of either sign
        bool negative = false;
        double largest = -infinity;
        double smallest = infinity;
    };

    double neutral() const {
        constexpr std::array<double, 4> of_op = {0.0, -infinity, infinity, 1.0};
        return of_op[static_cast<std::size_t>(op_)];
    }

    Special special(std::size_t i) const {
        Special found;
        each_rank(i, [&](double x) {
            found.nan = found.nan || std::isnan(x);
            found.positive = found.positive || x == infinity;
            found.negative = found.negative || x == -infinity;
            found.largest = found.largest < x ? x : found.largest;
            found.smallest = x < found.smallest ? x : found.smallest;
        });
        return found;
    }

    template <typename Look>
    void each_rank(std::size_t i, Look &&look) const {
        T one;
        for (std::size_t rank = from_; rank < from_end_; ++rank) {
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

    template <typename Better>
    void keep(const T *values, std::size_t length, Better &&better) {
        for (std::size_t i = 0; i < length; ++i) {
            const double x = static_cast<double>(values[i]);
            magnitude_[i] += std::fabs(x);
            value_[i] = better(x, value_[i]) ? x : value_[i];
        }
    }

    void multiply(const T *values, std::size_t length) {
        for (std::size_t i = 0; i < length; ++i) {
            const double x = static_cast<double>(values[i]);
            const double size = std::fabs(x);
            value_[i] *= x;
            up_[i] *= size < 1 ? 1 : size; // NaN stays
            down_[i] *= size < 1 && size > 0 ? size : 1;
        }
    }

    void judge_products(std::size_t length) {
        for (std::size_t i = 0; i < length; ++i) {
            const bool within = up_[i] < Precision<T>::largest && down_[i] >= Precision<T>::smallest_normal;
            magnitude_[i] = within ? std::fabs(value_[i]) : infinity;
        }
    }

    const DataSource &data_;
    std::size_t from_ = 0;
    std::size_t from_end_ = 1;
    collpress_op op_ = COLLPRESS_MAX;
    std::size_t first_ = 0;
    std::vector<double> value_ = std::vector<double>(oracle_chunk);
    std::vector<double> correction_ = std::vector<double>(oracle_chunk); // of compensated summation
    std::vector<double> magnitude_ = std::vector<double>(oracle_chunk);
    std::vector<double> up_ = std::vector<double>(oracle_chunk);   // of products: the factors above 1,
    std::vector<double> down_ = std::vector<double>(oracle_chunk); // and those below
    std::vector<T> buffer_ = std::vector<T>(oracle_chunk);
};

} // namespace collpress
