// How the power spectrum of the values changed: P'(k) / P(k) - 1, P of the expected values and P' of those that came
// out. Cosmology judges lossy compression by it (Jin et al., Understanding GPU-Based Lossy Compression for
// Extreme-Scale Cosmological Simulations, IPDPS 2020: within 1 % at large scales).
//
// Spectra are along the order in memory, by Welch's method (The Use of Fast Fourier Transform for the Estimation of
// Power Spectra, IEEE Transactions on Audio and Electroacoustics 15(2), 1967): windows of 4096 values, or the largest
// power of two that a shorter message holds, each half over the one before, each less its mean (so a bias alone is no
// change) and under a Hann window; powers are summed over the windows. Values behind the last whole step are in no
// window.
//
// `octave_1` ... `octave_4`: signed change of the power from 1/4 to 1/2 (Nyquist's frequency), 1/8 to 1/4, 1/16 to 1/8,
// 1/32 to 1/16 cycles an element, without the lower limit; `below`: of all lower frequencies; `largest_low`: the
// largest |P'(k) / P(k) - 1| of a single frequency up to 1/8 cycle an element.
#include "sums.hpp"

#include "collpress/metric.hpp"

#include <algorithm>
#include <bit>
#include <complex>
#include <limits>
#include <numbers>
#include <vector>

namespace {

using namespace collpress::metrics;
using Complex = std::complex<double>;

constexpr std::size_t longest = 4096;
constexpr std::size_t shortest = 64;

// In place, in decimation in time (Cooley and Tukey 1965); the length is a power of two.
class Transform {
  public:
    explicit Transform(std::size_t length) : roots_(length / 2) {
        for (std::size_t i = 0; i < roots_.size(); ++i) {
            const double angle = -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length);
            roots_[i] = {std::cos(angle), std::sin(angle)};
        }
    }

    void operator()(std::vector<Complex> &values) const {
        const std::size_t length = values.size();
        for (std::size_t i = 1, j = 0; i < length; ++i) { // bits in reverse
            std::size_t bit = length >> 1;
            for (; (j & bit) != 0; bit >>= 1) j ^= bit;
            j ^= bit;
            if (i < j) std::swap(values[i], values[j]);
        }
        for (std::size_t half = 1; half < length; half *= 2) {
            const std::size_t stride = length / (2 * half);
            for (std::size_t first = 0; first < length; first += 2 * half) {
                for (std::size_t k = 0; k < half; ++k) {
                    const Complex root = roots_[k * stride];
                    const Complex odd = values[first + half + k];
                    // Written out: the library's product also looks after infinities.
                    const Complex turned(odd.real() * root.real() - odd.imag() * root.imag(),
                                         odd.real() * root.imag() + odd.imag() * root.real());
                    const Complex even = values[first + k];
                    values[first + k] = even + turned;
                    values[first + half + k] = even - turned;
                }
            }
        }
    }

  private:
    std::vector<Complex> roots_;
};

class SpectralError {
  public:
    static constexpr collpress_metric_value values[] = {{"octave_1", "1"}, {"octave_2", "1"}, {"octave_3", "1"},
                                                        {"octave_4", "1"}, {"below", "1"},    {"largest_low", "1"}};

    explicit SpectralError(const collpress_metric_config &config)
        : range_(value_range(config)), count_(config.count),
          length_(config.count < shortest ? 0 : std::min(longest, std::bit_floor<std::size_t>(config.count))),
          transform_(std::max<std::size_t>(length_, 2)), expected_(length_), got_(length_), hann_(length_),
          spectrum_(length_), before_(length_ / 2 + 1), after_(length_ / 2 + 1) {
        for (std::size_t i = 0; i < length_; ++i) {
            const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length_);
            hann_[i] = 0.5 - 0.5 * std::cos(angle);
        }
    }

    void add(const double *expected, const double *got, std::size_t count) {
        if (length_ == 0 || !(range_ > 0)) return;
        while (count != 0) {
            const std::size_t step = std::min(count, length_ - filled_);
            std::copy_n(expected, step, expected_.begin() + static_cast<std::ptrdiff_t>(filled_));
            std::copy_n(got, step, got_.begin() + static_cast<std::ptrdiff_t>(filled_));
            expected += step;
            got += step;
            count -= step;
            filled_ += step;
            if (filled_ < length_) return;
            transform_window();
            const auto half = static_cast<std::ptrdiff_t>(length_ / 2);
            std::copy(expected_.begin() + half, expected_.end(), expected_.begin());
            std::copy(got_.begin() + half, got_.end(), got_.begin());
            filled_ = length_ / 2;
        }
    }

    const char *finish(double *result) {
        std::fill_n(result, std::size(values), std::numeric_limits<double>::quiet_NaN());
        if (count_ == 0) return no_values;
        if (length_ == 0) return "there are fewer than the 64 values of the shortest window";
        if (!(range_ > 0)) return no_range;
        bool defined = true;
        std::size_t high = length_ / 2;
        for (std::size_t band = 0; band < 5; ++band) { // (high / 2, high], and what is left below
            const std::size_t low = band < 4 ? high / 2 : 0;
            result[band] = change(low + 1, high + 1);
            defined = defined && std::isfinite(result[band]);
            high = low;
        }
        double largest = 0;
        for (std::size_t k = 1; k <= length_ / 8; ++k) {
            const double one = change(k, k + 1);
            defined = defined && std::isfinite(one);
            largest = std::isfinite(largest) && std::fabs(one) <= largest ? largest : std::fabs(one);
        }
        result[5] = largest;
        return defined ? nullptr : "the expected values have no power at some of the frequencies";
    }

  private:
    static double mean(const std::vector<double> &of) {
        return pairwise_sum(0, of.size(), [&](std::size_t i) { return of[i]; }) / static_cast<double>(of.size());
    }

    // Both windows by one transform: the spectrum of a real sequence is its own mirror image, conjugated.
    void transform_window() {
        const double expected = mean(expected_);
        const double got = mean(got_);
        for (std::size_t i = 0; i < length_; ++i) {
            spectrum_[i] = {(expected_[i] - expected) / range_ * hann_[i], (got_[i] - got) / range_ * hann_[i]};
        }
        transform_(spectrum_);
        for (std::size_t k = 1; k <= length_ / 2; ++k) {
            const Complex here = spectrum_[k];
            const Complex mirrored = std::conj(spectrum_[length_ - k]);
            before_[k] += std::norm(here + mirrored);
            after_[k] += std::norm(here - mirrored);
        }
    }

    // Of the power of frequencies first ... end - 1, in waves a window.
    double change(std::size_t first, std::size_t end) const {
        const double before = pairwise_sum(first, end - first, [&](std::size_t k) { return before_[k]; });
        const double after = pairwise_sum(first, end - first, [&](std::size_t k) { return after_[k]; });
        return before > 0 ? after / before - 1 : std::numeric_limits<double>::quiet_NaN();
    }

    double range_;
    std::uint64_t count_;
    std::size_t length_; // of a window; 0: there is none
    Transform transform_;
    std::vector<double> expected_;
    std::vector<double> got_;
    std::vector<double> hann_;
    std::vector<Complex> spectrum_;
    std::vector<double> before_; // power of the expected values by waves a window, times 4
    std::vector<double> after_;
    std::size_t filled_ = 0;
};

} // namespace

COLLPRESS_METRIC_PLUGIN(SpectralError, "change of the power spectrum, by octaves")
