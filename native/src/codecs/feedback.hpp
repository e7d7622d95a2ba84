// Error feedback: what the n-th compression of a call lost is added to what the n-th of the next call compresses, so
// that over the calls everything arrives.
//
// S. P. Karimireddy et al.: Error Feedback Fixes SignSGD and other Gradient Compression Schemes. ICML 2019,
// arXiv:1901.09847, algorithm 1 (without a learning rate: what is lost is lost of the message itself).
#ifndef COLLPRESS_CODECS_FEEDBACK_HPP
#define COLLPRESS_CODECS_FEEDBACK_HPP

#include "parameters.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace collpress::codecs {

constexpr collpress_codec_parameter kFeedbackParameter = choice("feedback", "adds what the call before lost", "off|on");

// What compressions lost, by their places in a call. Before the first begin() nothing is kept; nor is what belongs to
// another number of values.
class Feedback {
  public:
    explicit Feedback(bool on) : on_(on) {}

    bool on() const { return on_; }

    void begin() {
        begun_ = true;
        nth_ = 0;
    }

    // The message and what is owed, in working memory; finite values stay finite, others are what they are.
    template <class T>
    std::vector<T> &owed(const unsigned char *in, std::size_t count) {
        std::vector<T> &values = std::get<Memory<T>>(memory_).values;
        values.resize(count);
        if (count != 0) std::memcpy(values.data(), in, count * sizeof(T));
        const std::vector<T> *const lost = kept<T>();
        if (lost == nullptr || lost->size() != count) return values;
        constexpr T most = std::numeric_limits<T>::max();
        for (std::size_t i = 0; i < count; ++i)
            if (std::isfinite(values[i])) values[i] = std::clamp(values[i] + (*lost)[i], -most, most);
        return values;
    }

    // After the stream is written: owed() has become what it lost.
    template <class T>
    void keep() {
        auto &memory = std::get<Memory<T>>(memory_);
        if (!on_ || !begun_) return;
        if (memory.lost.size() <= nth_) memory.lost.resize(nth_ + 1);
        memory.lost[nth_++].swap(memory.values);
    }

  private:
    template <class T>
    struct Memory {
        std::vector<T> values;
        std::vector<std::vector<T>> lost;
    };

    template <class T>
    const std::vector<T> *kept() const {
        const auto &lost = std::get<Memory<T>>(memory_).lost;
        return on_ && begun_ && nth_ < lost.size() ? &lost[nth_] : nullptr;
    }

    bool on_, begun_ = false;
    std::size_t nth_ = 0;
    std::tuple<Memory<float>, Memory<double>> memory_;
};

} // namespace collpress::codecs
#endif
