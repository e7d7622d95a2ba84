// Predictions of deltapack-dense: how a band's predictor is found, residuals from integers, and back.
//
// `q` points at the first value of a chunk; the kBefore integers before it are there and equal `start`.
#ifndef COLLPRESS_CODECS_DELTAPACK_DENSE_PREDICT_HPP
#define COLLPRESS_CODECS_DELTAPACK_DENSE_PREDICT_HPP

#include "deltapack_dense_states.hpp"

namespace collpress::codecs::dense {

constexpr std::size_t kBefore = 8;

// A predictor ready for use: everything modulo 2^32.
struct Prepared {
    std::array<std::size_t, kTaps> back;
    std::array<std::uint32_t, kTaps> weights;
    std::uint32_t constant, own; // own: what q1 gets in the sum
    std::uint32_t start;
    std::size_t row, origin; // where the rows of the band begin

    Prepared(const Predictor &predictor, std::uint32_t first, std::size_t row_, std::size_t plane, std::size_t begin)
        : back(neighbours(predictor.kind, row_, plane)), weights{}, start(first), row(row_), origin(begin) {
        const auto mean = static_cast<std::uint32_t>(predictor.mean);
        constant = mean * start + (1u << (kWeightBits - 1));
        own = 0 - mean;
        for (std::size_t k = 0; k < taps_of(predictor.kind); ++k) {
            weights[k] = static_cast<std::uint32_t>(predictor.weights[k]);
            own -= weights[k];
        }
    }

    bool plain() const {
        return own == 0 && std::all_of(weights.begin(), weights.end(), [](std::uint32_t w) { return w == 0; });
    }
};

COLLPRESS_INLINE std::uint32_t scaled(std::uint32_t sum) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(sum) >> kWeightBits);
}

// The integer `n` before the one at `i`; there is room before the first.
COLLPRESS_INLINE std::uint32_t behind(const std::uint32_t *q, std::size_t i, std::size_t n) { return *(q + i - n); }

// Residuals of the values [begin, end).
template <std::size_t Taps>
COLLPRESS_INLINE void subtract_weighted(const std::uint32_t *q, std::size_t begin, std::size_t end, const Prepared &p,
                                        std::uint32_t *__restrict residuals) {
    const Prepared local = p;
    for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t before = behind(q, i, 1);
        std::uint32_t sum = local.constant + local.own * before;
        for (std::size_t k = 0; k < Taps; ++k) sum += local.weights[k] * behind(q, i, local.back[k]);
        residuals[i - begin] = q[i] - before - scaled(sum);
    }
}

// The neighbour that is q[i - row - 1].
constexpr std::size_t corner_of(std::size_t taps) { return taps == 3 ? 1 : 2; }

// The same for the first values of rows; the other residuals are there.
template <std::size_t Taps>
COLLPRESS_INLINE void subtract_first_ones(const std::uint32_t *q, std::size_t begin, std::size_t end, const Prepared &p,
                                          std::uint32_t *residuals) {
    for (std::size_t i = p.origin + (begin - p.origin + p.row - 1) / p.row * p.row; i < end; i += p.row) {
        const std::uint32_t before = behind(q, i, p.row);
        std::uint32_t sum = p.constant + p.own * before;
        for (std::size_t k = 0; k < Taps; ++k)
            sum += p.weights[k] * (k == corner_of(Taps) ? before : behind(q, i, p.back[k]));
        residuals[i - begin] = q[i] - before - scaled(sum);
    }
}

COLLPRESS_INLINE void subtract_prediction(const std::uint32_t *q, std::size_t begin, std::size_t end, Kind kind,
                                          const Prepared &p, std::uint32_t *__restrict residuals) {
    if (kind == Kind::none) {
        const std::uint32_t start = p.start;
        for (std::size_t i = begin; i < end; ++i) residuals[i - begin] = q[i] - start;
    } else if (p.plain()) {
        for (std::size_t i = begin; i < end; ++i) residuals[i - begin] = q[i] - behind(q, i, 1);
    } else if (kind == Kind::line) {
        subtract_weighted<1>(q, begin, end, p, residuals);
    } else if (kind == Kind::plane) {
        subtract_weighted<3>(q, begin, end, p, residuals);
        subtract_first_ones<3>(q, begin, end, p, residuals);
    } else {
        subtract_weighted<6>(q, begin, end, p, residuals);
        subtract_first_ones<6>(q, begin, end, p, residuals);
    }
}

constexpr std::size_t kRows = 4; // that a decoder follows at a time
constexpr std::size_t kLag = 2;  // values that each is behind the one above

// One value of a row: `i` is its index, `x` its place in the row, `sum` the constant and what neighbours in the plane
// before add; `before` and `above` are q1 and q[i - row] of the value before.
template <std::size_t Taps>
COLLPRESS_INLINE void add_one(std::uint32_t *q, std::size_t i, std::size_t x, std::uint32_t sum, const Prepared &p,
                              std::uint32_t &before, std::uint32_t &above) {
    std::uint32_t corner = above;
    above = behind(q, i, p.row);
    if (x == 0) before = corner = above;
    sum += p.weights[0] * above + p.weights[corner_of(Taps)] * corner + p.own * before;
    if constexpr (Taps == 3) sum += p.weights[2] * behind(q, i, p.row - 1);
    before = (q[i] + before) + scaled(sum);
    q[i] = before;
}

// What is known of the sums ahead: the constant, and neighbours in the plane before.
template <std::size_t Taps>
COLLPRESS_INLINE void sum_ahead(const std::uint32_t *q, std::size_t begin, std::size_t count, const Prepared &p,
                                std::uint32_t *__restrict sums) {
    const Prepared local = p;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t sum = local.constant;
        if constexpr (Taps == 6)
            for (const std::size_t k : {1, 3, 4, 5}) sum += local.weights[k] * behind(q, begin + i, local.back[k]);
        sums[i] = sum;
    }
}

// Four rows side by side: a register has a value of each.
using Four [[gnu::vector_size(16)]] = std::uint32_t;
using FourSigned [[gnu::vector_size(16)]] = std::int32_t;

// Four values of each of four rows, to a register for each of four steps; and back.
COLLPRESS_INLINE void transpose(Four (&x)[4]) {
    const Four a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5), b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
    const Four c = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7), d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
    x[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    x[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    x[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    x[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

// Four whole rows from `begin` on, in place. Only q1 makes a chain of dependent steps: four of them at once, each row
// kLag values behind the one above.
template <std::size_t Taps>
class Rows {
  public:
    Rows(std::uint32_t *q, std::size_t begin, const Prepared &p) : q_(q + begin), p_(p), row_(p.row) {}

    COLLPRESS_INLINE void add() {
        const std::size_t steps = row_ + kLag * (kRows - 1);
        for (std::size_t from = 0; from < steps; from += kTile) {
            const std::size_t upto = steps - from < kTile ? steps : from + kTile;
            for (std::size_t r = 0; r < kRows; ++r) {
                const std::size_t lag = kLag * r, first = from < lag ? lag : from;
                const std::size_t last = upto < row_ + lag ? upto : row_ + lag;
                if (first < last)
                    sum_ahead<Taps>(q_, r * row_ + first - lag, last - first, p_, sums_[r] + (first - from));
            }
            // From here on, all rows have begun, and are behind their first value.
            constexpr std::size_t all_begun = kLag * (kRows - 1) + 1;
            std::size_t step = careful(from, from, upto < all_begun ? upto : all_begun);
            step = together(from, step, upto < row_ ? upto : row_);
            careful(from, step, upto);
        }
    }

  private:
    static constexpr std::size_t kTile = 256; // steps

    // Of the tile that begins with the step `from`: the steps [step, end), each row by itself; returns the first step
    // that is not done.
    COLLPRESS_INLINE std::size_t careful(std::size_t from, std::size_t step, std::size_t end) {
        for (; step < end; ++step) {
            for (std::size_t r = 0; r < kRows; ++r) {
                const std::size_t x = step - kLag * r;
                if (step < kLag * r || x >= row_) continue;
                add_one<Taps>(q_, r * row_ + x, x, sums_[r][step - from], p_, before_[r], above_[r]);
            }
        }
        return step;
    }

    // The same for all rows at once, four steps at a time; returns the first step that is not done.
    COLLPRESS_INLINE std::size_t together(std::size_t from, std::size_t step, std::size_t end) {
        if (step + 4 > end) return step;
        const Four all = {1, 1, 1, 1};
        const Four weight = all * p_.weights[0], corner_weight = all * p_.weights[corner_of(Taps)];
        const Four right_weight = all * p_.weights[2], own = all * p_.own;
        Four before, corner, second = {}; // q1, q[i - row - 1], and what was q1 a step ago
        std::memcpy(&before, before_, sizeof before);
        std::memcpy(&corner, above_, sizeof corner);
        for (std::size_t r = 0; r + 1 < kRows; ++r) second[r] = q_[r * row_ + step - kLag * r - 2];
        const std::uint32_t *top = q_ - row_; // the row above all
        for (; step + 4 <= end; step += 4) {
            Four values[4], sums[4];
            for (std::size_t r = 0; r < kRows; ++r) {
                std::memcpy(&values[r], q_ + r * row_ + step - kLag * r, sizeof values[r]);
                std::memcpy(&sums[r], sums_[r] + (step - from), sizeof sums[r]);
            }
            transpose(values);
            transpose(sums);
            for (std::size_t k = 0; k < 4; ++k) {
                // What is above is what the row above had kLag steps ago.
                const Four above = __builtin_shufflevector(second, all * top[step + k], 4, 0, 1, 2);
                Four sum = sums[k] + weight * above + corner_weight * corner;
                if constexpr (Taps == 3)
                    sum += right_weight * __builtin_shufflevector(before, all * top[step + k + 1], 4, 0, 1, 2);
                sum += own * before;
                second = before;
                corner = above;
                before = (values[k] + before) + (Four)((FourSigned)sum >> static_cast<int>(kWeightBits));
                values[k] = before;
            }
            transpose(values);
            for (std::size_t r = 0; r < kRows; ++r)
                std::memcpy(q_ + r * row_ + step - kLag * r, &values[r], sizeof values[r]);
        }
        std::memcpy(before_, &before, sizeof before);
        std::memcpy(above_, &corner, sizeof corner);
        return step;
    }

    std::uint32_t *q_;
    const Prepared p_;
    std::size_t row_;
    std::uint32_t sums_[kRows][kTile]; // sum_ahead's, by step
    std::uint32_t before_[kRows] = {}, above_[kRows] = {};
};

// Any part of one row.
template <std::size_t Taps>
COLLPRESS_INLINE void add_row(std::uint32_t *q, std::size_t begin, std::size_t end, const Prepared &p) {
    std::uint32_t before = behind(q, begin, 1), above = behind(q, begin, p.row + 1);
    const std::size_t x = (begin - p.origin) % p.row;
    for (std::size_t i = begin; i < end; ++i) {
        std::uint32_t sum;
        sum_ahead<Taps>(q, i, 1, p, &sum);
        add_one<Taps>(q, i, x + (i - begin), sum, p, before, above);
    }
}

// [begin, end) begins with a row. The neighbours in the plane before must be known for kRows rows.
template <std::size_t Taps>
COLLPRESS_INLINE void add_weighted(std::uint32_t *q, std::size_t begin, std::size_t end, const Prepared &p) {
    const bool known = Taps == 3 || p.back[1] >= kRows * p.row;
    while (known && end - begin >= kRows * p.row) {
        Rows<Taps>(q, begin, p).add();
        begin += kRows * p.row;
    }
    for (; begin < end; begin += p.row) add_row<Taps>(q, begin, end - begin < p.row ? end : begin + p.row, p);
}

// In place: q holds the residuals of [begin, end) and becomes the integers.
COLLPRESS_INLINE void add_prediction(std::uint32_t *q, std::size_t begin, std::size_t end, Kind kind,
                                     const Prepared &p) {
    if (kind == Kind::none) {
        for (std::size_t i = begin; i < end; ++i) q[i] += p.start;
    } else if (p.plain()) {
        std::uint32_t before = behind(q, begin, 1);
        for (std::size_t i = begin; i < end; ++i) q[i] = before += q[i];
    } else if (kind == Kind::line) {
        std::uint32_t before = behind(q, begin, 1), second = behind(q, begin, 2);
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t sum = p.constant + p.weights[0] * second + p.own * before;
            second = before;
            before = (q[i] + before) + scaled(sum);
            q[i] = before;
        }
    } else if (kind == Kind::plane) {
        add_weighted<3>(q, begin, end, p);
    } else {
        add_weighted<6>(q, begin, end, p);
    }
}

// A column of samples for each number that takes part in a fit.
constexpr std::size_t kRun = 16;
using Columns = std::int16_t[kTaps + 2][kRun];
constexpr std::int32_t kMostDifference = 8191; // no sum of products of a run leaves 32 bits
using Products = std::int64_t[kTaps + 2][kTaps + 2];

// Differences of `count` <= kRun values and their neighbours to the values before; the last column is the values' own,
// the one before it that of `start`. A sample with a difference of more than `limit`, and one beyond `count`, is 0.
template <std::size_t Taps>
COLLPRESS_INLINE void fill_columns(const std::uint32_t *values, std::size_t count,
                                   const std::array<std::size_t, kTaps> &back, std::uint32_t start, std::int32_t limit,
                                   Columns &x) {
    const auto clamped = [](std::int32_t d, std::int32_t most) { return d < -most ? -most : d > most ? most : d; };
    std::int32_t mild[kRun];
    for (std::size_t i = 0; i < kRun; ++i) mild[i] = i < count ? 1 : 0;
    for (std::size_t k = 0; k <= Taps; ++k) {
        const std::uint32_t *neighbour = k == Taps ? values : values - back[k];
        for (std::size_t i = 0; i < kRun; ++i) {
            // Beyond `count` there are values still: of the next samples, or what lies behind the chunk.
            const auto d = static_cast<std::int32_t>(neighbour[i] - values[static_cast<std::ptrdiff_t>(i) - 1]);
            const std::int32_t most = clamped(d, limit);
            mild[i] &= d == most ? 1 : 0;
            x[k == Taps ? Taps + 1 : k][i] = static_cast<std::int16_t>(most);
        }
    }
    for (std::size_t i = 0; i < kRun; ++i) {
        const auto d = static_cast<std::int32_t>(start - values[static_cast<std::ptrdiff_t>(i) - 1]);
        x[Taps][i] = static_cast<std::int16_t>(clamped(d, kMostDifference));
    }
    for (std::size_t k = 0; k < Taps + 2; ++k)
        for (std::size_t i = 0; i < kRun; ++i) x[k][i] = static_cast<std::int16_t>(x[k][i] * mild[i]);
}

// Adds the products of all columns with all.
COLLPRESS_INLINE void add_products(const Columns &x, std::size_t columns, Products &products) {
    for (std::size_t a = 0; a < columns; ++a) {
        for (std::size_t b = a; b < columns; ++b) {
            std::int32_t sum = 0;
            for (std::size_t i = 0; i < kRun; ++i) sum += x[a][i] * x[b][i];
            products[a][b] += sum;
        }
    }
}

COLLPRESS_INLINE std::uint32_t magnitude(std::uint32_t r) { return static_cast<std::int32_t>(r) < 0 ? ~r : r; }

// Nearly the sum of log2(1 + 2|r|), in parts of 2^-11 bits: robust against the few that are wild.
COLLPRESS_INLINE std::uint32_t cost_of(const std::uint32_t (&residuals)[kRun]) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < kRun; ++i) {
        const std::uint32_t m = magnitude(residuals[i]);
        const float size = static_cast<float>(static_cast<std::int32_t>(m)) * 2.0f + 1.0f;
        sum += (std::bit_cast<std::uint32_t>(size) - std::bit_cast<std::uint32_t>(1.0f)) >> 12;
    }
    return sum;
}

// Finds predictors by least squares on samples of a chunk. All sums are of integers and exact, so that every machine
// finds the same ones.
template <class Kernel>
class Fit {
  public:
    static constexpr std::size_t kSamples = 1024;

    // Of the values [begin, end).
    Fit(const std::uint32_t *q, std::uint32_t start, std::size_t begin, std::size_t end, std::size_t row,
        std::size_t plane)
        : q_(q), start_(start), begin_(begin), row_(row), plane_(plane) {
        const std::size_t values = end - begin;
        if (values <= kSamples) {
            for (std::size_t i = begin; i < end; ++i) at_[count_++] = i;
            find_limit();
            return;
        }
        constexpr std::size_t runs = kSamples / kRun;
        for (std::size_t run = 0; run < runs; ++run) {
            // Runs at odd places, so that they do not fall on the same part of every row.
            const std::size_t room = values / runs - kRun, from = begin + values / runs * run + run * 37 % (room + 1);
            for (std::size_t i = 0; i < kRun; ++i) at_[count_++] = from + i;
        }
        find_limit();
    }

    // The best predictor of all kinds up to `most`.
    Predictor best(Kind most) {
        const Predictor constant{Kind::none, {}, 0};
        Predictor found{Kind::line, {}, 0};
        std::uint64_t least = cost(found);
        const auto consider = [&](const Predictor &other) {
            const std::uint64_t its = cost(other);
            if (its >= least) return;
            least = its;
            found = other;
        };
        // A kind of more neighbours that helps at all, helps more than one of fewer.
        if (most >= Kind::space) consider(fitted(Kind::space));
        if (most >= Kind::plane && found.kind == Kind::line) consider(fitted(Kind::plane));
        if (found.kind == Kind::line) consider(fitted(Kind::line));
        if (most >= Kind::plane) consider({Kind::plane, {256, -256}, 0});
        if (most >= Kind::space) consider({Kind::space, {256, 256, -256, -256, -256, 256}, 0});
        consider(constant);
        return found;
    }

    // Adds to `widths` how many of the samples' residuals have so many bits without their sign, times `weight`.
    void residual_widths(const Predictor &predictor, std::uint64_t weight, std::uint64_t (&widths)[33]) const {
        const Prepared p(predictor, start_, row_, plane_, begin_);
        for (std::size_t n = 0; n < count_; ++n) {
            std::uint32_t r = 0;
            subtract_prediction(q_, at_[n], at_[n] + 1, predictor.kind, p, &r);
            widths[std::bit_width(magnitude(r))] += weight;
        }
    }

    std::size_t samples() const { return count_; }

  private:
    static constexpr std::size_t kUnknowns = kTaps + 1;

    std::uint64_t cost(const Predictor &predictor) const {
        const Prepared p(predictor, start_, row_, plane_, begin_);
        std::uint64_t sum = 0;
        for (std::size_t n = 0; n < count_; n += kRun) {
            std::uint32_t r[kRun] = {};
            Kernel::template call<subtract_prediction>(q_, at_[n], at_[n] + std::min(kRun, count_ - n), predictor.kind,
                                                       p, r);
            sum += Kernel::template call<cost_of>(r);
        }
        return sum;
    }

    // A few wild values would decide a sum of squares: what is eight times as far from its neighbours as 31 of 32
    // samples takes no part.
    void find_limit() {
        std::size_t widths[33] = {}, width = 0;
        for (std::size_t n = 0; n < count_; ++n)
            ++widths[std::bit_width(magnitude(q_[at_[n]] - q_[static_cast<std::ptrdiff_t>(at_[n]) - 1]))];
        for (std::size_t seen = widths[0]; seen < count_ - count_ / 32; seen += widths[width]) ++width;
        limit_ = std::min(kMostDifference, static_cast<std::int32_t>(8u << std::min<std::size_t>(width, 20)));
    }

    Predictor fitted(Kind kind) const {
        const auto back = neighbours(kind, row_, plane_);
        const std::size_t taps = taps_of(kind), unknowns = taps + 1;
        Products products = {};
        for (std::size_t n = 0; n < count_; n += kRun) {
            Columns x;
            const std::uint32_t *values = q_ + at_[n];
            const std::size_t here = std::min(kRun, count_ - n);
            if (kind == Kind::line)
                Kernel::template call<fill_columns<1>>(values, here, back, start_, limit_, x);
            else if (kind == Kind::plane)
                Kernel::template call<fill_columns<3>>(values, here, back, start_, limit_, x);
            else
                Kernel::template call<fill_columns<6>>(values, here, back, start_, limit_, x);
            Kernel::template call<add_products>(x, unknowns + 1, products);
        }
        double system[kUnknowns][kUnknowns + 1];
        for (std::size_t a = 0; a < unknowns; ++a)
            for (std::size_t b = 0; b <= unknowns; ++b)
                system[a][b] = static_cast<double>(a <= b ? products[a][b] : products[b][a]);
        for (std::size_t a = 0; a < unknowns; ++a) system[a][a] += system[a][a] / 4096 + 1;
        for (std::size_t a = 0; a < unknowns; ++a) { // the matrix is positive definite: no pivots
            for (std::size_t b = a + 1; b < unknowns; ++b) {
                const double factor = system[b][a] / system[a][a];
                for (std::size_t c = a; c <= unknowns; ++c) system[b][c] = system[b][c] - factor * system[a][c];
            }
        }
        double solution[kUnknowns];
        for (std::size_t a = unknowns; a-- > 0;) {
            double rest = system[a][unknowns];
            for (std::size_t b = a + 1; b < unknowns; ++b) rest = rest - system[a][b] * solution[b];
            solution[a] = rest / system[a][a];
        }
        const auto weight = [&](std::size_t k) {
            const double w = std::clamp(solution[k] * (1 << kWeightBits), -1023.0, 1023.0);
            return static_cast<std::int16_t>(std::isfinite(w) ? std::nearbyint(w) : 0);
        };
        Predictor predictor{kind, {}, weight(taps)};
        for (std::size_t k = 0; k < taps; ++k) predictor.weights[k] = weight(k);
        return predictor;
    }

    const std::uint32_t *q_;
    std::uint32_t start_;
    std::size_t begin_, row_, plane_, count_ = 0;
    std::size_t at_[kSamples];
    std::int32_t limit_ = kMostDifference;
};

} // namespace collpress::codecs::dense
#endif
