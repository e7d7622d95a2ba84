// What a rank did in one call, as scopes that nest: an algorithm's phases, its steps, and in them the primitives of the
// point-to-point interface. Written while the call runs, so an entry costs two looks at a clock and little else.
#pragma once

#include "p2p/tag_clock.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace collpress {

enum class TagKind : std::uint8_t { phase, step, network, reduction, movement, codec };
inline constexpr const char *tag_kind_names[] = {"phase", "step", "network", "reduction", "movement", "codec"};

struct TagEvent {
    const char *name;
    std::int64_t begin; // of TagClock, until in_ns() was called
    std::int64_t end;
    std::uint32_t parent; // place of the scope around it in the log; `none` for the outermost
    TagKind kind;

    static constexpr std::uint32_t none = UINT32_MAX;
    std::int64_t ns() const { return end - begin; }
};

class TagLog {
  public:
    TagLog() = default;
    TagLog(const TagLog &) = delete;
    TagLog &operator=(const TagLog &) = delete;

    // Of a call that is to come. Memory is kept, so that later calls of the same length allocate nothing.
    void clear() {
        count_ = 0;
        next_ = events_.data();
        open_ = TagEvent::none;
    }

    void begin(const char *name, TagKind kind) {
        if (next_ == last_) grow();
        TagEvent &event = *next_++;
        event.name = name;
        event.parent = open_;
        event.kind = kind;
        open_ = count_++;
        event.begin = TagClock::now(); // last, so that writing is no part of the scope
    }
    // The innermost scope, and steps that are still open in it.
    void end() {
        const std::int64_t now = TagClock::now();
        while (open_ != TagEvent::none) {
            TagEvent &event = events_[open_];
            event.end = now;
            open_ = event.parent;
            if (event.kind != TagKind::step) break;
        }
    }
    // A step lasts until the next one, or until the scope around it ends.
    void step() {
        if (open_ != TagEvent::none && events_[open_].kind == TagKind::step) {
            events_[open_].end = TagClock::now();
            open_ = events_[open_].parent;
        }
        begin("step", TagKind::step);
    }
    // When the call is over.
    void close() {
        while (open_ != TagEvent::none) end();
    }

    // Its moments as nanoseconds of now_ns().
    std::vector<TagEvent> in_ns(const TagScale &scale) const {
        std::vector<TagEvent> events(events_.begin(), events_.begin() + count_);
        for (TagEvent &event : events) {
            event.begin = scale.ns(event.begin);
            event.end = scale.ns(event.end);
        }
        return events;
    }

  private:
    // Out of line: begin() has no registers to save for it.
    [[gnu::noinline, gnu::cold]] void grow() {
        events_.resize(std::max<std::size_t>(256, 2 * events_.size()));
        next_ = events_.data() + count_;
        last_ = events_.data() + events_.size();
    }

    std::vector<TagEvent> events_; // the first `count_`; written in place, which is faster than push_back
    TagEvent *next_ = nullptr;
    TagEvent *last_ = nullptr;
    std::uint32_t count_ = 0;
    std::uint32_t open_ = TagEvent::none;
};

// Of a primitive, for its duration.
class TagScope {
  public:
    TagScope(TagLog &log, const char *name, TagKind kind) : log_(log) { log.begin(name, kind); }
    ~TagScope() { log_.end(); }
    TagScope(const TagScope &) = delete;
    TagScope &operator=(const TagScope &) = delete;

  private:
    TagLog &log_;
};

} // namespace collpress
