// Where the time of a collective goes: phases, and a timer that charges its scope to one of them.
//
// The MPI implementation of p2p tags its own primitives, so algorithms need no instrumentation.
#ifndef COLLPRESS_TAG_HPP
#define COLLPRESS_TAG_HPP

#include "collpress/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace collpress {

enum class Phase : std::size_t { compress, send, decompress, reduce, wait };

inline constexpr std::size_t phase_count = 5;
inline constexpr std::array<const char *, phase_count> phase_names = {"compress", "send", "decompress", "reduce",
                                                                      "wait"};

// Nanoseconds spent in each phase; `send` is the posting of sends and receives, `wait` their completion.
struct PhaseTimes {
    std::array<std::int64_t, phase_count> ns{};

    std::int64_t &operator[](Phase phase) { return ns[static_cast<std::size_t>(phase)]; }
    std::int64_t operator[](Phase phase) const { return ns[static_cast<std::size_t>(phase)]; }
};

class Tag {
  public:
    Tag(PhaseTimes &times, Phase phase) : spent_(times[phase]), start_(now_ns()) {}
    ~Tag() { spent_ += now_ns() - start_; }
    Tag(const Tag &) = delete;
    Tag &operator=(const Tag &) = delete;

  private:
    std::int64_t &spent_;
    std::int64_t start_;
};

} // namespace collpress

#endif
