#include "measure/check.hpp"

#include "measure/oracle.hpp"
#include "p2p/reduction.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
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
        : op_(op), bounded_(is_bound(codec_bound)), codec_bound_(bounded_ ? codec_bound : 0), exact_(data) {}

    void check(const ResultPart &part, const T *recv) {
        exact_.over(part.from, part.from_end, op_);
        const double steps = static_cast<double>(exact_.operands() - 1);
        const auto growth = [&](double unit) { return steps * unit / (1 - steps * unit); };
        const bool rounds = exact_.op() == COLLPRESS_SUM || exact_.op() == COLLPRESS_PROD;
        gamma_ = rounds ? growth(Precision<T>::unit) : 0;
        if (exact_.op() == COLLPRESS_PROD) gamma_ += growth(Precision<double>::unit);
        unit_ = rounds && steps > 0 ? Precision<T>::unit : 0;
        for (std::size_t done = 0; done < part.length; done += oracle_chunk) {
            const std::size_t length = std::min(oracle_chunk, part.length - done);
            const std::size_t first = part.first + done;
            exact_.compute(part.source + done, length);
            if (all_within(first, length, recv + first)) continue;
            for (std::size_t i = 0; i < length; ++i) element(first + i, i, static_cast<double>(recv[first + i]));
        }
    }

    const CheckResult &result() const { return tally_.result(); }

  private:
    double rounding(double magnitude, double expected) const {
        return exact_rounding(magnitude + codec_bound_, expected);
    }
    double exact_rounding(double magnitude, double expected) const { // without a codec
        return gamma_ * magnitude + unit_ * std::fabs(expected);
    }

    // The usual case, in loops that vectorise: every element of the chunk is compared and within its bound. Otherwise
    // nothing is tallied, and the elements must be looked at one by one.
    bool all_within(std::size_t first, std::size_t length, const T *result) {
        const double *value = exact_.values();
        const double *correction = exact_.corrections();
        const double *magnitude = exact_.magnitudes();
        const double gamma = gamma_;
        const double unit = unit_;
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
        if (exact_.op() == COLLPRESS_MAX || exact_.op() == COLLPRESS_MIN) {
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

    collpress_op op_;
    bool bounded_;
    double codec_bound_; // 0 where there is none: what is right without a codec is right
    double gamma_ = 0;
    double unit_ = 0;
    Oracle<T> exact_;
    Tally tally_;
};

template <typename T>
class IntegerCheck {
  public:
    IntegerCheck(const DataSource &data, collpress_op op, double codec_bound)
        : data_(data), op_(op), bounded_(is_bound(codec_bound)), codec_bound_(codec_bound) {}

    void check(const ResultPart &part, const T *recv) {
        const Reduction reduction = reduction_of(data_.dtype().id, op_);
        for (std::size_t done = 0; done < part.length; done += oracle_chunk) {
            const std::size_t length = std::min(oracle_chunk, part.length - done);
            data_.copy(part.from, part.source + done, length, exact_.data());
            for (std::size_t rank = part.from + 1; rank < part.from_end; ++rank)
                reduction(exact_.data(), data_.view(rank, part.source + done, length, buffer_.data()), length);
            const std::size_t first = part.first + done;
            if (all_equal(first, length, recv + first)) continue;
            for (std::size_t i = 0; i < length; ++i) compare(first + i, exact_[i], recv[first + i]);
        }
    }

    const CheckResult &result() const { return tally_.result(); }

  private:
    // The usual case, in loops that vectorise; otherwise nothing is tallied.
    bool all_equal(std::size_t first, std::size_t length, const T *result) {
        if (std::memcmp(result, exact_.data(), length * sizeof(T)) != 0) return false;
        T low = exact_[0];
        T high = exact_[0];
        for (std::size_t i = 0; i < length; ++i) {
            low = std::min(low, exact_[i]);
            high = std::max(high, exact_[i]);
        }
        Tally::Chunk chunk{length};
        chunk.minimum = static_cast<double>(low);
        chunk.maximum = static_cast<double>(high);
        tally_.add(chunk);
        if (tally_.would_lead(0)) tally_.lead(first, static_cast<double>(exact_[0]), static_cast<double>(exact_[0]), 0);
        return true;
    }

    void compare(std::size_t index, T exact, T got) {
        const auto expected = static_cast<double>(exact);
        if (exact == got) return tally_.compare(index, expected, expected, 0, 0);
        if (!bounded_) return tally_.unbounded(index, expected, static_cast<double>(got));
        // Different integers may be equal as float64.
        const double distance = std::max(std::fabs(static_cast<double>(got) - expected), 1.0);
        tally_.compare(index, expected, got < exact ? expected - distance : expected + distance, codec_bound_, 0);
    }

    const DataSource &data_;
    collpress_op op_;
    bool bounded_;
    double codec_bound_;
    std::vector<T> exact_ = std::vector<T>(oracle_chunk);
    std::vector<T> buffer_ = std::vector<T>(oracle_chunk);
    Tally tally_;
};

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

CheckResult check_result(const DataSource &data, collpress_op op, const std::vector<ResultPart> &parts,
                         const void *recv, double codec_bound) {
    return with_type(data.dtype().id, [&]<typename T>(std::type_identity<T>) {
        using Check = std::conditional_t<std::integral<T>, IntegerCheck<T>, FloatCheck<T>>;
        Check check(data, op, codec_bound);
        for (const ResultPart &part : parts) check.check(part, static_cast<const T *>(recv));
        return check.result();
    });
}

namespace {

// The bits, not the values: a NaN is what it is, and a zero has a sign.
bool same_bits(const void *a, const void *b, std::size_t bytes) { return std::memcmp(a, b, bytes) == 0; }

} // namespace

std::optional<ChangedElement> changed_element(const DataSource &data, std::size_t rank, const void *contribution) {
    return with_type(data.dtype().id, [&]<typename T>(std::type_identity<T>) -> std::optional<ChangedElement> {
        const auto *values = static_cast<const T *>(contribution);
        const std::size_t count = data.exchange().contribution(rank);
        std::vector<T> buffer(oracle_chunk);
        for (std::size_t first = 0; first < count; first += oracle_chunk) {
            const std::size_t length = std::min(oracle_chunk, count - first);
            const T *sent = data.view(rank, first, length, buffer.data());
            if (same_bits(values + first, sent, length * sizeof(T))) continue;
            for (std::size_t i = 0; i < length; ++i) {
                if (!same_bits(values + first + i, sent + i, sizeof(T)))
                    return ChangedElement{first + i, static_cast<double>(values[first + i]),
                                          static_cast<double>(sent[i])};
            }
        }
        return std::nullopt;
    });
}

} // namespace collpress
