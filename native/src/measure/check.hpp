// The oracle: what the result should be, in float64, over the whole buffer, and how far it may be off.
//
// Floating-point sums: |result - exact| <= codec bound + rounding bound, the latter elementwise: gamma·(sum of |x| +
// codec bound) with gamma = (p-1)u / (1-(p-1)u) (Higham, Accuracy and Stability of Numerical Algorithms, 4.2), which
// holds for every order of the additions, plus u·|exact| for the oracle's own result. float64 inputs are summed with
// compensation (Knuth's TwoSum). A NaN, or infinities of both signs, must give NaN; an infinity must give that
// infinity. Where the sum of |x| is beyond the dtype's range, an order of additions exists that overflows: such
// elements are not compared. Products: the same with |product| in place of the sum of |x|, and gamma once more for the
// oracle's own multiplications (the same source, 3.1); where an order of multiplications leaves the normal numbers,
// nothing is compared. A maximum or minimum is exact but for the codec bound; where a rank sends NaN, MPI leaves open
// which value wins: NaN or any rank's value passes. What was only moved is as it was sent, but for the codec bound.
// Integers wrap around and are exact but for the codec bound.
//
// A codec bound that is not finite and at least 0, or with which a sum may leave the dtype's range, allows any result.
// Then a result only passes that is right without a codec; what is not, nobody can check: `unbounded`.
#pragma once

#include "measure/data.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace collpress {

// Plain data: gathered as bytes.
struct CheckResult {
    double max_abs_error = 0;  // over compared elements
    double rounding_bound = 0; // the largest of all elements
    double error_sum = 0;
    double error_squares = 0;
    std::uint64_t compared = 0;
    std::uint64_t wrong = 0;
    std::uint64_t unbounded = 0; // elements that cannot be checked for want of a bound
    double exact_minimum = 0;    // over compared elements
    double exact_maximum = 0;
    // The element that is worst: farthest beyond its bound, or, when all are within, with the largest error.
    std::uint64_t has_worst = 0;
    double worst_score = 0;
    double worst_allowed = 0;
    double worst_expected = 0;
    double worst_got = 0;
    std::uint64_t worst_index = 0;
    std::int64_t worst_rank = 0;

    double value_range() const { return compared == 0 ? 0 : exact_maximum - exact_minimum; }
    // Adds another rank's result.
    void merge(const CheckResult &other);
    bool worse_than(const CheckResult &other) const;
};

// Of those parts of what a rank got. A worst element's index counts from the beginning of `recv`.
CheckResult check_result(const DataSource &data, collpress_op op, const std::vector<ResultPart> &parts,
                         const void *recv, double codec_bound);

// An element of what a rank sends that is no longer what it was, bit by bit.
struct ChangedElement {
    std::size_t index;
    double got;
    double expected;
};

// The first of them, if any.
std::optional<ChangedElement> changed_element(const DataSource &data, std::size_t rank, const void *contribution);

} // namespace collpress
