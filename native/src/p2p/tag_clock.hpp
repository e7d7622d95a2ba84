// The clock of tags: the processor's time stamp counter where it runs evenly whatever the processor does, else the
// clock of all measurements. The counter is read in half of the time.
#pragma once

#include "collpress/clock.hpp"

#include <cmath>
#include <cstdint>

#if defined(__x86_64__) && !defined(SMPI) && !defined(SMPI_H) && !defined(COLLPRESS_NO_TSC)
#include <cpuid.h>
#include <x86intrin.h>
#define COLLPRESS_HAS_TSC 1
#else
#define COLLPRESS_HAS_TSC 0
#endif

namespace collpress {

class TagClock {
  public:
    static std::int64_t now() {
#if COLLPRESS_HAS_TSC
        if (counts_evenly) return static_cast<std::int64_t>(__rdtsc());
#endif
        return now_ns();
    }
    static const char *name() { return counts_evenly ? "TSC" : clock_name; }
    static bool is_counter() { return counts_evenly; }

  private:
    // "Invariant TSC": CPUID, leaf 0x80000007, EDX bit 8.
    static bool has_even_counter() noexcept {
#if COLLPRESS_HAS_TSC
        unsigned a = 0;
        unsigned b = 0;
        unsigned c = 0;
        unsigned d = 0;
        return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
#else
        return false;
#endif
    }
    static inline const bool counts_evenly = has_even_counter();
};

// From TagClock to now_ns(), by one look at both before and one after what is to be converted.
class TagScale {
  public:
    struct Look {
        std::int64_t tag;
        std::int64_t ns;
    };
    // The tightest of a few: the counter is read between two readings of the clock.
    static Look look() {
        Look best{0, 0};
        std::int64_t narrowest = INT64_MAX;
        for (int i = 0; i < 5; ++i) {
            const std::int64_t before = now_ns();
            const std::int64_t tag = TagClock::now();
            const std::int64_t after = now_ns();
            if (after - before >= narrowest) continue;
            narrowest = after - before;
            best = {tag, before + (after - before) / 2};
        }
        return best;
    }

    TagScale(Look first, Look second)
        : first_(first),
          ns_per_tag_(second.tag == first.tag
                          ? 1.0
                          : static_cast<double>(second.ns - first.ns) / static_cast<double>(second.tag - first.tag)) {}

    std::int64_t ns(std::int64_t tag) const {
        if (!TagClock::is_counter()) return tag;
        return first_.ns + std::llround(static_cast<double>(tag - first_.tag) * ns_per_tag_);
    }

  private:
    Look first_;
    double ns_per_tag_;
};

} // namespace collpress
