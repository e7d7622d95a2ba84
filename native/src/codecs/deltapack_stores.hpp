// How decoded values are written to memory.
#ifndef COLLPRESS_CODECS_DELTAPACK_STORES_HPP
#define COLLPRESS_CODECS_DELTAPACK_STORES_HPP

#include <chrono>
#include <cstddef>

namespace collpress::codecs::deltapack {

enum class Stores {
    cached,    // as any program writes: right for what the caches hold
    streaming, // past the caches: memory is not read before it is written
    fetching,  // cached, the lines asked for ahead
    adding,    // added to what is there
};

// Whether streaming or fetching is faster for an output larger than the caches differs between processors, by half as
// much again in either direction; so a long output finds out on its first chunks. Values do not depend on it.
class StoreTrial {
  public:
    StoreTrial(std::size_t chunks, std::size_t bytes) : trying_(bytes >= kFrom && chunks > kWarm + kTrials) {
        best_ = bytes >= kFrom ? Stores::streaming : Stores::cached;
    }

    Stores stores() const {
        if (!trying_) return best_;
        return chunk_ % 2 == 0 ? Stores::streaming : Stores::fetching;
    }

    void begin() {
        if (trying_) start_ = Clock::now();
    }

    void end() {
        if (!trying_) return;
        if (chunk_ >= kWarm) spent_[chunk_ % 2] += Clock::now() - start_;
        if (++chunk_ < kWarm + kTrials) return;
        trying_ = false;
        best_ = spent_[0] <= spent_[1] ? Stores::streaming : Stores::fetching;
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kFrom = std::size_t{4} << 20; // bytes of output that no longer fit the caches
    static constexpr std::size_t kWarm = 2, kTrials = 12;      // chunks

    bool trying_;
    Stores best_;
    std::size_t chunk_ = 0;
    Clock::time_point start_;
    Clock::duration spent_[2]{};
};

} // namespace collpress::codecs::deltapack
#endif
