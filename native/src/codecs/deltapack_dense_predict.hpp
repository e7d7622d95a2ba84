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

    Prepared(const Predictor &predictor, std::uint32_t first, std::size_t row, std::size_t plane)
        : back(neighbours(predictor.kind, row, plane)), weights{}, start(first) {
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

// Residuals of the values [begin, end).
template <std::size_t Taps>
COLLPRESS_INLINE void subtract_weighted(const std::uint32_t *q, std::size_t begin, std::size_t end, const Prepared &p,
                                        std::uint32_t *__restrict residuals) {
    const Prepared local = p;
    for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t before = q[i - 1];
        std::uint32_t sum = local.constant + local.own * before;
        for (std::size_t k = 0; k < Taps; ++k) sum += local.weights[k] * q[i - local.back[k]];
        residuals[i - begin] = q[i] - before - scaled(sum);
    }
}

COLLPRESS_INLINE void subtract_prediction(const std::uint32_t *q, std::size_t begin, std::size_t end, Kind kind,
                                          const Prepared &p, std::uint32_t *__restrict residuals) {
    if (kind == Kind::none) {
        const std::uint32_t start = p.start;
        for (std::size_t i = begin; i < end; ++i) residuals[i - begin] = q[i] - start;
    } else if (p.plain()) {
        for (std::size_t i = begin; i < end; ++i) residuals[i - begin] = q[i] - q[i - 1];
    } else if (kind == Kind::line) {
        subtract_weighted<1>(q, begin, end, p, residuals);
    } else if (kind == Kind::plane) {
        subtract_weighted<3>(q, begin, end, p, residuals);
    } else {
        subtract_weighted<6>(q, begin, end, p, residuals);
    }
}

// What the neighbours add to the sum is known for many values ahead; only q1 is not, and makes a chain.
template <std::size_t Taps>
COLLPRESS_INLINE void add_weighted(std::uint32_t *q, std::size_t begin, std::size_t end, const Prepared &p,
                                   std::size_t ahead) {
    constexpr std::size_t most = 256;
    std::uint32_t sums[most];
    const Prepared local = p;
    std::uint32_t before = q[begin - 1];
    for (std::size_t at = begin; at < end;) {
        const std::size_t room = ahead < most ? ahead : most, n = end - at < room ? end - at : room;
        for (std::size_t i = 0; i < n; ++i) {
            std::uint32_t sum = local.constant;
            for (std::size_t k = 0; k < Taps; ++k) sum += local.weights[k] * q[at + i - local.back[k]];
            sums[i] = sum;
        }
        for (std::size_t i = 0; i < n; ++i) {
            before = (q[at + i] + before) + scaled(sums[i] + local.own * before);
            q[at + i] = before;
        }
        at += n;
    }
}

// In place: q holds the residuals of [begin, end) and becomes the integers.
COLLPRESS_INLINE void add_prediction(std::uint32_t *q, std::size_t begin, std::size_t end, Kind kind, const Prepared &p,
                                     std::size_t row) {
    if (kind == Kind::none) {
        for (std::size_t i = begin; i < end; ++i) q[i] += p.start;
    } else if (p.plain()) {
        std::uint32_t before = q[begin - 1];
        for (std::size_t i = begin; i < end; ++i) q[i] = before += q[i];
    } else if (kind == Kind::line) {
        std::uint32_t before = q[begin - 1], second = q[begin - 2];
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t sum = p.constant + p.weights[0] * second + p.own * before;
            second = before;
            before = (q[i] + before) + scaled(sum);
            q[i] = before;
        }
    } else if (kind == Kind::plane) {
        add_weighted<3>(q, begin, end, p, row - 1);
    } else {
        add_weighted<6>(q, begin, end, p, row);
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
        : q_(q), start_(start), row_(row), plane_(plane) {
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
        const Prepared p(predictor, start_, row_, plane_);
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
        const Prepared p(predictor, start_, row_, plane_);
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
    std::size_t row_, plane_, count_ = 0;
    std::size_t at_[kSamples];
    std::int32_t limit_ = kMostDifference;
};

} // namespace collpress::codecs::dense
#endif
