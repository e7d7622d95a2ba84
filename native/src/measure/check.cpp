#include "measure/check.hpp"

#include "measure/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace collpress {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Whether a codec's bound says anything.
bool is_bound(double bound) { return std::isfinite(bound) && bound >= 0; }

class Tally {
  public:
    void compare(std::size_t index, double expected, double got, double allowed, double rounding) {
        const double error = std::fabs(got - expected);
        const bool wrong = !(error <= allowed);
        result_.rounding_bound = std::max(result_.rounding_bound, rounding);
        if (std::isfinite(error)) {
            result_.exact_minimum = result_.compared == 0 ? expected : std::min(result_.exact_minimum, expected);
            result_.exact_maximum = result_.compared == 0 ? expected : std::max(result_.exact_maximum, expected);
            ++result_.compared;
            result_.max_abs_error = std::max(result_.max_abs_error, error);
            result_.error_sum += got - expected;
            result_.error_squares += error * error;
        }
        score(index, wrong, wrong ? (std::isfinite(error) ? error - allowed : infinity) : error, expected, got,
              allowed);
    }

    // Values that must match as they are: infinities and NaN.
    void match(std::size_t index, double expected, double got, bool right) {
        score(index, !right, right ? 0 : infinity, expected, got, 0);
    }

    // What no bound says anything about.
    void unbounded(std::size_t index, double expected, double got) {
        ++result_.unbounded;
        score(index, false, infinity, expected, got, infinity);
    }

    // A whole chunk of elements that are all compared and all within their bounds, summed up.
    struct Chunk {
        std::size_t length;
        double max_error = 0;
        double rounding = 0;
        double error_sum = 0;
        double error_squares = 0;
        double minimum = infinity;
        double maximum = -infinity;
    };

    void add(const Chunk &chunk) {
        result_.exact_minimum = result_.compared == 0 ? chunk.minimum : std::min(result_.exact_minimum, chunk.minimum);
        result_.exact_maximum = result_.compared == 0 ? chunk.maximum : std::max(result_.exact_maximum, chunk.maximum);
        result_.compared += chunk.length;
        result_.max_abs_error = std::max(result_.max_abs_error, chunk.max_error);
        result_.rounding_bound = std::max(result_.rounding_bound, chunk.rounding);
        result_.error_sum += chunk.error_sum;
        result_.error_squares += chunk.error_squares;
    }

    // Whether an element with this error would be the worst so far.
    bool would_lead(double error) const {
        return result_.has_worst == 0 || (result_.wrong == 0 && error > result_.worst_score);
    }

    void lead(std::size_t index, double expected, double got, double allowed) {
        score(index, false, std::fabs(got - expected), expected, got, allowed);
    }

    const CheckResult &result() const { return result_; }

  private:
    void score(std::size_t index, bool wrong, double score, double expected, double got, double allowed) {
        const bool first_wrong = wrong && result_.wrong == 0;
        const bool comparable = wrong == (result_.wrong != 0);
        result_.wrong += wrong ? 1 : 0;
        if (result_.has_worst == 0 || first_wrong || (comparable && score > result_.worst_score)) {
            result_.has_worst = 1;
            result_.worst_score = score;
            result_.worst_index = index;
            result_.worst_expected = expected;
            result_.worst_got = got;
            result_.worst_allowed = allowed;
        }
    }

    CheckResult result_;
};

template <typename T>
class FloatCheck {
  public:
    FloatCheck(const DataSource &data, collpress_op op, double codec_bound)
        : count_(data.count()), op_(op), bounded_(is_bound(codec_bound)), codec_bound_(bounded_ ? codec_bound : 0),
          exact_(data, op) {
        constexpr double unit = std::numeric_limits<T>::epsilon() / 2;
        const double additions = static_cast<double>(data.ranks() - 1);
        gamma_ = additions * unit / (1 - additions * unit);
        unit_ = data.ranks() > 1 ? unit : 0;
    }

    CheckResult check(const T *result) {
        for (std::size_t first = 0; first < count_; first += oracle_chunk) {
            const std::size_t length = std::min(oracle_chunk, count_ - first);
            exact_.compute(first, length);
            if (all_within(first, length, result + first)) continue;
            for (std::size_t i = 0; i < length; ++i) element(first + i, i, static_cast<double>(result[first + i]));
        }
        return tally_.result();
    }

  private:
    double rounding(double magnitude, double expected) const {
        return exact_rounding(magnitude + codec_bound_, expected);
    }
    double exact_rounding(double magnitude, double expected) const { // without a codec
        return op_ == COLLPRESS_SUM ? gamma_ * magnitude + unit_ * std::fabs(expected) : 0;
    }

    // The usual case, in loops that vectorise: every element of the chunk is compared and within its bound. Otherwise
    // nothing is tallied, and the elements must be looked at one by one.
    bool all_within(std::size_t first, std::size_t length, const T *result) {
        const double *value = exact_.values();
        const double *correction = exact_.corrections();
        const double *magnitude = exact_.magnitudes();
        const double gamma = op_ == COLLPRESS_SUM ? gamma_ : 0;
        const double unit = op_ == COLLPRESS_SUM ? unit_ : 0;
        const double bound = codec_bound_;
        const double most = exact_.limit();
        double max_error = 0;
        double max_rounding = 0;
        double error_sum = 0;
        double error_squares = 0;
        double low = infinity;
        double high = -infinity;
        double outside = 0; // elements beyond a bound or not comparable
#pragma omp simd reduction(max : max_error, max_rounding, high) reduction(min : low)                                   \
    reduction(+ : error_sum, error_squares, outside)
        for (std::size_t i = 0; i < length; ++i) {
            const double expected = value[i] + correction[i];
            const double difference = static_cast<double>(result[i]) - expected;
            const double error = std::fabs(difference);
            const double rounding = gamma * (magnitude[i] + bound) + unit * std::fabs(expected);
            outside += error <= bound + rounding ? 0.0 : 1.0;
            outside += magnitude[i] + bound < most ? 0.0 : 1.0;
            max_error = max_error < error ? error : max_error;
            max_rounding = max_rounding < rounding ? rounding : max_rounding;
            error_sum += difference;
            error_squares += difference * difference;
            low = expected < low ? expected : low;
            high = high < expected ? expected : high;
        }
        if (outside != 0) return false;
        tally_.add({length, max_error, max_rounding, error_sum, error_squares, low, high});
        for (std::size_t i = 0; tally_.would_lead(max_error) && i < length; ++i) {
            const double expected = value[i] + correction[i];
            const double got = static_cast<double>(result[i]);
            if (std::fabs(got - expected) == max_error) {
                tally_.lead(first + i, expected, got, bound + rounding(magnitude[i], expected));
            }
        }
        return true;
    }

    void element(std::size_t index, std::size_t i, double got) {
        if (!exact_.comparable(i)) return special(index, i, got);
        const double magnitude = exact_.magnitude(i);
        const double expected = exact_.expected(i);
        const bool bounded = bounded_ && magnitude + codec_bound_ < exact_.limit();
        if (bounded) {
            const double own_rounding = rounding(magnitude, expected);
            return tally_.compare(index, expected, got, codec_bound_ + own_rounding, own_rounding);
        }
        const double own_rounding = exact_rounding(magnitude, expected);
        if (!(std::fabs(got - expected) <= own_rounding)) return tally_.unbounded(index, expected, got);
        tally_.compare(index, expected, got, own_rounding, own_rounding);
    }

    // An element with NaN or infinities, or whose sum may leave the dtype's range.
    void special(std::size_t index, std::size_t i, double got) {
        const double expected = exact_.expected(i);
        if (op_ == COLLPRESS_MAX) {
            if (std::isnan(expected)) {
                return match(index, expected, got, std::isnan(got) || exact_.any_near(i, got, codec_bound_));
            }
            if (std::isinf(expected)) return match(index, expected, got, got == expected);
            if (!bounded_ && got != expected) return tally_.unbounded(index, expected, got);
            return tally_.compare(index, expected, got, codec_bound_, 0);
        }
        if (std::isinf(expected)) return match(index, expected, got, got == expected);
        if (exact_.must_be_nan(i)) return match(index, expected, got, std::isnan(got));
        if (!bounded_) tally_.unbounded(index, expected, got);
    }

    void match(std::size_t index, double expected, double got, bool right) {
        if (right || bounded_) return tally_.match(index, expected, got, right);
        tally_.unbounded(index, expected, got);
    }

    std::size_t count_;
    collpress_op op_;
    bool bounded_;
    double codec_bound_; // 0 where there is none: what is right without a codec is right
    double gamma_;
    double unit_;
    Oracle<T> exact_;
    Tally tally_;
};

CheckResult check_integers(const DataSource &data, collpress_op op, const std::int32_t *result, double codec_bound) {
    Tally tally;
    const bool bounded = is_bound(codec_bound);
    std::vector<std::int64_t> exact(oracle_chunk);
    std::vector<std::int32_t> buffer(oracle_chunk);
    for (std::size_t first = 0; first < data.count(); first += oracle_chunk) {
        const std::size_t length = std::min(oracle_chunk, data.count() - first);
        const std::int64_t start = op == COLLPRESS_SUM ? 0 : std::numeric_limits<std::int64_t>::min();
        std::fill_n(exact.begin(), length, start);
        for (std::size_t rank = 0; rank < data.ranks(); ++rank) {
            const std::int32_t *values = data.view(rank, first, length, buffer.data());
            for (std::size_t i = 0; i < length; ++i) {
                const std::int64_t x = values[i];
                exact[i] = op == COLLPRESS_SUM ? exact[i] + x : std::max(exact[i], x);
            }
        }
        for (std::size_t i = 0; i < length; ++i) {
            const auto wrapped = static_cast<std::int32_t>(static_cast<std::uint32_t>(exact[i]));
            if (!bounded && result[first + i] != wrapped)
                tally.unbounded(first + i, wrapped, result[first + i]);
            else
                tally.compare(first + i, wrapped, result[first + i], bounded ? codec_bound : 0, 0);
        }
    }
    return tally.result();
}

} // namespace

bool CheckResult::worse_than(const CheckResult &other) const {
    if ((wrong != 0) != (other.wrong != 0)) return wrong != 0;
    if ((unbounded != 0) != (other.unbounded != 0)) return unbounded != 0;
    return has_worst != 0 && (other.has_worst == 0 || worst_score > other.worst_score);
}

void CheckResult::merge(const CheckResult &other) {
    if (other.worse_than(*this)) {
        has_worst = other.has_worst;
        worst_score = other.worst_score;
        worst_allowed = other.worst_allowed;
        worst_expected = other.worst_expected;
        worst_got = other.worst_got;
        worst_index = other.worst_index;
        worst_rank = other.worst_rank;
    }
    if (other.compared != 0) {
        exact_minimum = compared == 0 ? other.exact_minimum : std::min(exact_minimum, other.exact_minimum);
        exact_maximum = compared == 0 ? other.exact_maximum : std::max(exact_maximum, other.exact_maximum);
    }
    max_abs_error = std::max(max_abs_error, other.max_abs_error);
    rounding_bound = std::max(rounding_bound, other.rounding_bound);
    error_sum += other.error_sum;
    error_squares += other.error_squares;
    compared += other.compared;
    wrong += other.wrong;
    unbounded += other.unbounded;
}

CheckResult check_result(const DataSource &data, collpress_dtype dtype, collpress_op op, const void *result,
                         double codec_bound) {
    switch (dtype) {
    case COLLPRESS_FLOAT32:
        return FloatCheck<float>(data, op, codec_bound).check(static_cast<const float *>(result));
    case COLLPRESS_FLOAT64:
        return FloatCheck<double>(data, op, codec_bound).check(static_cast<const double *>(result));
    case COLLPRESS_INT32:
        return check_integers(data, op, static_cast<const std::int32_t *>(result), codec_bound);
    }
    return {};
}

} // namespace collpress
