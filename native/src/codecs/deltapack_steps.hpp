// How far apart the values are that a bound lets the deltapack codecs tell apart.
#ifndef COLLPRESS_CODECS_DELTAPACK_STEPS_HPP
#define COLLPRESS_CODECS_DELTAPACK_STEPS_HPP

#include "deltapack_format.hpp"

#include <algorithm>

namespace collpress::codecs::deltapack {

// Tests compile a codec that breaks its bound, to see that they notice: COLLPRESS_BROKEN_BOUND scales what the encoder
// believes in.
#if defined(COLLPRESS_BROKEN_BOUND)
constexpr double kBelief = COLLPRESS_BROKEN_BOUND;
#else
constexpr double kBelief = 1.0;
#endif

// Finds the steps of one array's chunks. An error must stay below the bound by the rounding of large values: that is
// the slack, usually one of `parts` parts of the bound, a power of two.
template <class T>
class Steps {
  public:
    Steps(double bound, int parts) : parts_(parts) {
        // The largest T that is not above the bound; an error must stay below it by an ulp, because its difference is
        // rounded too.
        constexpr T largest = std::numeric_limits<T>::max() / 4;
        bound *= kBelief;
        bound_ = bound < static_cast<double>(largest) ? static_cast<T>(bound) : largest;
        if (static_cast<double>(bound_) > bound) bound_ = std::nextafter(bound_, T{0});
    }

    // Room for the rounding errors of values up to tens of thousands of bounds: streams of such values have the same
    // step.
    Quantiser<T> usual() const { return with_slack(bound_ / static_cast<T>(parts_)); }

    // For a chunk in which `usual` failed: room for the rounding of its largest value that has any hope.
    void finer(const unsigned char *in, std::size_t count, Quantiser<T> &quantiser) const {
        T largest = 0;
        for (std::size_t i = 0; i < count; ++i) {
            T x;
            std::memcpy(&x, in + i * sizeof x, sizeof x);
            if (hopeful(x)) largest = std::max(largest, std::abs(x));
        }
        // One of few steps: streams of other values have the same one, and can be added.
        T slack = bound_ / static_cast<T>(parts_);
        for (int part = 2; part < parts_ && slack < rounding(largest); part *= 2) slack *= 2;
        quantiser = with_slack(std::max(rounding(largest), slack));
    }

    // Whether one of these values may fail for its rounding alone.
    bool may_gain(const unsigned char *in, std::size_t count) const {
        for (std::size_t i = 0; i < count; ++i) {
            T x;
            std::memcpy(&x, in + i * sizeof x, sizeof x);
            if (hopeful(x) && rounding(x) > bound_ / static_cast<T>(2 * parts_)) return true;
        }
        return false;
    }

  private:
    // x·inverse, the inverse itself and q·step are rounded: three halves of an ulp.
    static T rounding(T x) { return std::abs(x) * (2 * std::numeric_limits<T>::epsilon()); }
    bool hopeful(T x) const { return rounding(x) <= bound_ / 2; } // false for NaN

    Quantiser<T> with_slack(T slack) const {
        const T step = 2 * (bound_ - slack), inverse = 1 / step;
        if (!(step >= std::numeric_limits<T>::min()) || !std::isfinite(inverse))
            return {0, 0, -1}; // nothing passes: raw
        return {step, inverse, std::nextafter(bound_, T{0})};
    }

    T bound_;
    int parts_;
};

} // namespace collpress::codecs::deltapack
#endif
