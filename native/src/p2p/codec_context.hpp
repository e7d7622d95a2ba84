// A codec's context, destroyed with its owner, and words for a codec's result codes.
#pragma once

#include "collpress/codec.h"

#include "core/verdict.hpp"

#include <optional>
#include <string>

namespace collpress {

inline const char *codec_result_text(collpress_codec_result result) {
    switch (result) {
    case COLLPRESS_CODEC_OK:
        return "ok";
    case COLLPRESS_CODEC_UNSUPPORTED:
        return "does not support this dtype or configuration, or its library is missing (see collpress codecs)";
    case COLLPRESS_CODEC_SMALL_BUFFER:
        return "needs a larger buffer than it said";
    case COLLPRESS_CODEC_BAD_STREAM:
        return "cannot read a stream that it made";
    case COLLPRESS_CODEC_BAD_INPUT:
        return "cannot represent values of this data";
    case COLLPRESS_CODEC_FAILED:
        return "failed inside";
    }
    return "returned an unknown result";
}

class CodecContext {
  public:
    // Throws PointError: unsupported when the codec declines, else failed.
    CodecContext(const collpress_codec *codec, const std::string &name, const collpress_codec_config &config)
        : codec_(codec), name_(name) {
        collpress_codec_result result = COLLPRESS_CODEC_OK;
        context_ = codec->create(&config, &result);
        if (context_ == nullptr) {
            const bool declined = result == COLLPRESS_CODEC_UNSUPPORTED;
            const std::string why = result == COLLPRESS_CODEC_OK ? "gave no context" : codec_result_text(result);
            throw PointError(declined ? Status::unsupported : Status::failed, "codec " + name + " " + why);
        }
    }
    ~CodecContext() { codec_->destroy(context_); }
    CodecContext(const CodecContext &) = delete;
    CodecContext &operator=(const CodecContext &) = delete;

    // A call of the collective begins: codecs with a memory count their compressions from here.
    void begin_call() const {
        if (codec_->extras != nullptr && codec_->extras->begin != nullptr) codec_->extras->begin(context_);
    }

    const collpress_codec *operator->() const { return codec_; }
    void *get() const { return context_; }
    // What only some codecs have: each function may be null.
    const collpress_codec_extras &extras() const {
        static constexpr collpress_codec_extras none{};
        return codec_->extras == nullptr ? none : *codec_->extras;
    }
    const std::string &name() const { return name_; }

  private:
    const collpress_codec *codec_;
    std::string name_;
    void *context_ = nullptr;
};

// The worst error that a codec declares, for an algorithm's error_bound: 0 when lossless, its abs_bound when it takes
// one, else what its worst_error() says. Codecs of the first two kinds that say more are found out.
class DeclaredError {
  public:
    DeclaredError(const CodecContext &codec, double abs_bound)
        : codec_(codec), declares_(codec->lossless != 0 || codec->takes_bound != 0),
          bound_(codec->lossless != 0 ? 0 : abs_bound) {}

    // The collpress_worst_error of a DeclaredError.
    static double worst_error(const void *self, double max_abs) {
        const auto &me = *static_cast<const DeclaredError *>(self);
        const double stated = me.codec_->worst_error(me.codec_.get(), max_abs);
        if (!me.declares_) return stated;
        if (!(stated <= me.bound_) && !me.excess_.has_value()) me.excess_ = stated;
        return me.bound_;
    }

    double bound() const { return bound_; }
    const std::optional<double> &excess() const { return excess_; } // the first that was stated above the bound

  private:
    const CodecContext &codec_;
    bool declares_;
    double bound_;
    mutable std::optional<double> excess_; // the C interface hands the context on as const
};

} // namespace collpress
