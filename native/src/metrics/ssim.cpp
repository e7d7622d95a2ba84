// Structural similarity (Wang, Bovik, Sheikh, Simoncelli, Image Quality Assessment: From Error Visibility to Structural
// Similarity, IEEE Transactions on Image Processing 13(4), 2004): their equation 13 in each window, and the mean over
// all windows (equation 17), 1 where both are alike.
//
// Windows are uniform, of 8 x 8 values at steps of 4 along both axes (theirs are Gaussian, of 11 x 11 at steps of 1);
// variances are those of samples (N - 1, their equations 4 and 16). L is the value range of the expected values, K1 is
// 0.01 and K2 is 0.03, as there. Values count from the smallest expected one on, as an image's from black: else the
// same field would be more alike itself in K than in degrees Celsius.
//
// Of data with three axes and more, the planes of the last two are images of their own, and the mean is over the
// windows of all of them: no window reaches into another plane, as where fields of climate models are compared (Baker,
// Pinard, Hammerling, On a Structural Similarity Index Approach for Floating-Point Data, IEEE TVCG 2023). A message may
// begin anywhere in the array; rows and planes are counted from its first value on, so where it begins inside of a row,
// windows that lie across the seam hold the end of a row and the beginning of the next, of both fields alike. A plane's
// last rows and a row's last values that fill no whole step are in no window.
//
// Where the shape is unknown, or rows or planes are too small for a window, or the message is shorter than 8 rows,
// windows are of 64 values in a row, at steps of 32; `axes` says which they were (1 or 2).
#include "sums.hpp"

#include "collpress/metric.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace {

using namespace collpress::metrics;

// Sums over some pairs of values in units of L.
struct Sums {
    double x = 0;
    double y = 0;
    double xx = 0;
    double yy = 0;
    double xy = 0;

    Sums operator+(const Sums &other) const {
        return {x + other.x, y + other.y, xx + other.xx, yy + other.yy, xy + other.xy};
    }
};

class Ssim {
  public:
    static constexpr collpress_metric_value values[] = {{"mean", "1"}, {"least", "1"}, {"windows", "1"}, {"axes", "1"}};

    explicit Ssim(const collpress_metric_config &config)
        : range_(value_range(config)), least_value_(config.minimum), count_(config.count),
          flat_(config.row < side || config.count / side < config.row ||
                (config.plane != 0 && config.plane / side < config.row)),
          row_(flat_ ? flat_step : config.row), step_(flat_ ? flat_step : side / 2), rows_a_step_(flat_ ? 1 : side / 2),
          plane_rows_(flat_ || config.plane == 0 ? std::numeric_limits<std::size_t>::max() : config.plane / config.row),
          above_(row_ / step_), here_(row_ / step_) {}

    void add(const double *expected, const double *got, std::size_t count) {
        if (!(range_ > 0)) return;
        while (count != 0) {
            const std::size_t cell = column_ / step_;
            // To the end of the row's part in this cell, or of the row, whose last values lie in no cell.
            const std::size_t end = cell < here_.size() ? (cell + 1) * step_ : row_;
            const std::size_t length = std::min(count, end - column_);
            if (cell < here_.size()) gather(here_[cell], expected, got, length);
            expected += length;
            got += length;
            count -= length;
            column_ += length;
            if (column_ == row_) end_row();
        }
    }

    const char *finish(double *result) {
        std::fill_n(result, 2, std::numeric_limits<double>::quiet_NaN());
        result[2] = windows_;
        result[3] = flat_ ? 1 : 2;
        if (windows_ > 0) {
            result[0] = total_.value() / windows_;
            result[1] = least_;
        }
        if (count_ == 0) return no_values;
        if (!(range_ > 0)) return no_range;
        return windows_ > 0 ? nullptr : "there are fewer than the 64 values of a window";
    }

  private:
    static constexpr std::size_t side = 8;       // of a window
    static constexpr std::size_t flat_step = 32; // half of a window along one axis

    void gather(Sums &cell, const double *expected, const double *got, std::size_t length) const {
        for (std::size_t i = 0; i < length; ++i) {
            const double x = (expected[i] - least_value_) / range_;
            const double y = (got[i] - least_value_) / range_;
            cell = cell + Sums{x, y, x * x, y * y, x * y};
        }
    }

    void end_row() {
        column_ = 0;
        ++rows_;
        if (rows_ % rows_a_step_ == 0) {
            if (rows_ > rows_a_step_) close_windows();
            std::swap(above_, here_);
            std::fill(here_.begin(), here_.end(), Sums{});
        }
        if (rows_ == plane_rows_) {
            rows_ = 0;
            std::fill(here_.begin(), here_.end(), Sums{});
        }
    }

    void close_windows() {
        if (flat_) return judge(above_[0] + here_[0]);
        for (std::size_t i = 0; i + 1 < here_.size(); ++i) {
            judge((above_[i] + above_[i + 1]) + (here_[i] + here_[i + 1]));
        }
    }

    void judge(const Sums &window) {
        constexpr double n = side * side;
        constexpr double c1 = 0.01 * 0.01; // (K1 L)^2 and (K2 L)^2 in units of L^2
        constexpr double c2 = 0.03 * 0.03;
        const double x = window.x / n;
        const double y = window.y / n;
        const double xx = std::max(0.0, window.xx - n * x * x) / (n - 1);
        const double yy = std::max(0.0, window.yy - n * y * y) / (n - 1);
        const double xy = (window.xy - n * x * y) / (n - 1);
        const double found = ((2 * x * y + c1) * (2 * xy + c2)) / ((x * x + y * y + c1) * (xx + yy + c2));
        total_.add(found);
        least_ = std::min(least_, found);
        windows_ += 1;
    }

    double range_;
    double least_value_;
    std::uint64_t count_;
    bool flat_; // windows along one axis
    std::size_t row_;
    std::size_t step_;
    std::size_t rows_a_step_;
    std::size_t plane_rows_;
    std::vector<Sums> above_; // of the step's cells before
    std::vector<Sums> here_;
    std::size_t column_ = 0;
    std::size_t rows_ = 0; // of this plane
    double windows_ = 0;
    double least_ = std::numeric_limits<double>::infinity();
    Total total_;
};

} // namespace

COLLPRESS_METRIC_PLUGIN(Ssim, "structural similarity in windows of 64 values")
