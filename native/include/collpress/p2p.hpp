// C++ view of the point-to-point interface of algorithm.h, counted in elements, and the partition of a vector into
// blocks.
//
// An algorithm is one source file:
//
//     static void run(const collpress_p2p *p2p, const collpress_call *call) {
//         const collpress::P2p comm(p2p);
//         ...
//     }
//     COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, {.in_place = true}, "one line for people")
#ifndef COLLPRESS_P2P_HPP
#define COLLPRESS_P2P_HPP

#include "collpress/algorithm.h"
#include "collpress/tag.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace collpress {

// `count` elements in `parts` blocks whose sizes differ by at most one; the first count % parts blocks are the larger
// ones. Blocks may be empty (count < parts, count == 0).
struct Blocks {
    std::size_t count;
    std::size_t parts;

    std::size_t offset(std::size_t block) const { return block * (count / parts) + std::min(block, count % parts); }
    std::size_t size(std::size_t block) const { return count / parts + (block < count % parts ? 1 : 0); }
    // Elements of the blocks [first, last).
    std::size_t size(std::size_t first, std::size_t last) const { return offset(last) - offset(first); }
    std::size_t largest() const { return size(0); }
};

inline std::int32_t largest_power_of_two(std::int32_t ranks) {
    return static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(ranks)));
}
inline std::int32_t ceil_log2(std::int32_t ranks) {
    return static_cast<std::int32_t>(std::bit_width(static_cast<std::uint32_t>(ranks - 1)));
}

// Costs nothing over the C interface; buffers are bytes so that offsets can be computed for every dtype.
class P2p {
  public:
    explicit P2p(const collpress_p2p *raw) : raw_(raw) {}

    const collpress_p2p *raw() const { return raw_; }
    std::int32_t rank() const { return raw_->rank; }
    std::int32_t size() const { return raw_->size; }
    std::size_t bytes(std::size_t elements) const { return elements * raw_->element_bytes; }
    std::byte *at(void *buffer, std::size_t element) const { return static_cast<std::byte *>(buffer) + bytes(element); }
    const std::byte *at(const void *buffer, std::size_t element) const {
        return static_cast<const std::byte *>(buffer) + bytes(element);
    }

    // The machine that a rank runs on: 0, 1, ... in the order of their first ranks.
    std::int32_t node(std::int32_t rank) const { return raw_->node(raw_->self, rank); }

    // Marks the next communication step. Every rank marks every step, also one in which it is idle: then equal numbers
    // mean equal steps.
    void step() const { raw_->step(raw_->self); }

    collpress_request send(const void *buffer, std::size_t elements, std::int32_t to) const {
        return send_bytes(buffer, bytes(elements), to);
    }
    collpress_request receive(void *buffer, std::size_t elements, std::int32_t from) const {
        return receive_bytes(buffer, bytes(elements), from);
    }
    collpress_request send_bytes(const void *buffer, std::size_t bytes, std::int32_t to) const {
        return raw_->send(raw_->self, buffer, bytes, to);
    }
    collpress_request receive_bytes(void *buffer, std::size_t capacity, std::int32_t from) const {
        return raw_->receive(raw_->self, buffer, capacity, from);
    }
    std::size_t wait(collpress_request request) const { return raw_->wait(raw_->self, request); }

    // Sends and receives at once and completes both; empty messages are not sent (both sides know the counts).
    void exchange(const void *out, std::size_t out_elements, std::int32_t to, void *in, std::size_t in_elements,
                  std::int32_t from) const {
        const bool receives = in_elements != 0;
        const bool sends = out_elements != 0;
        collpress_request incoming = 0;
        collpress_request outgoing = 0;
        if (receives) incoming = receive(in, in_elements, from);
        if (sends) outgoing = send(out, out_elements, to);
        if (receives) wait(incoming);
        if (sends) wait(outgoing);
    }

    void reduce(void *inout, const void *in, std::size_t elements) const {
        if (elements != 0) raw_->reduce(raw_->self, inout, in, elements);
    }
    void copy(void *to, const void *from, std::size_t elements) const {
        if (elements != 0) raw_->copy(raw_->self, to, from, bytes(elements));
    }
    std::byte *scratch(std::size_t bytes) const { return static_cast<std::byte *>(raw_->scratch(raw_->self, bytes)); }

    std::size_t capacity(std::size_t elements) const { return raw_->capacity(raw_->self, elements); }
    std::size_t compress(const void *in, std::size_t elements, void *out, std::size_t capacity) const {
        return raw_->compress(raw_->self, in, elements, out, capacity);
    }
    void decompress(const void *in, std::size_t bytes, void *out, std::size_t elements) const {
        raw_->decompress(raw_->self, in, bytes, out, elements);
    }
    // The stream of the sum of two streams' values.
    std::size_t add(const void *a, std::size_t a_bytes, const void *b, std::size_t b_bytes, std::size_t elements,
                    void *out, std::size_t capacity) const {
        return raw_->add(raw_->self, a, a_bytes, b, b_bytes, elements, out, capacity);
    }
    void accumulate(const void *in, std::size_t bytes, void *inout, std::size_t elements) const {
        raw_->accumulate(raw_->self, in, bytes, inout, elements);
    }

  private:
    const collpress_p2p *raw_;
};

// What an algorithm can do, and needs.
struct Abilities {
    bool in_place = false;
    bool segments = false;          // heeds call.segment_elements
    std::uint32_t least_fanout = 0; // 0: knows no fan-out
    std::uint32_t min_ranks = 1;
    bool power_of_two_ranks = false;
    bool count_at_least_ranks = false;
    bool needs_add = false; // of the codec
};

// For algorithms that do not compress.
constexpr collpress_algorithm plain_algorithm(const char *collective,
                                              void (*run)(const collpress_p2p *, const collpress_call *),
                                              Abilities can = {}) {
    return {collective,
            0,
            can.min_ranks,
            can.power_of_two_ranks ? 1U : 0U,
            can.count_at_least_ranks ? 1U : 0U,
            run,
            nullptr,
            can.in_place ? 1U : 0U,
            can.segments ? 1U : 0U,
            can.least_fanout,
            can.needs_add ? 1U : 0U};
}

} // namespace collpress

// A macro, for an initialiser list may follow `run`: {.in_place = true}.
#define COLLPRESS_ALGORITHM_PLUGIN(collective, run, abilities, summary)                                                \
    static constexpr collpress_algorithm collpress_algorithm_ =                                                        \
        collpress::plain_algorithm(collective, run, collpress::Abilities abilities);                                   \
    static constexpr collpress_plugin_t collpress_plugin_ = {COLLPRESS_ABI_VERSION, COLLPRESS_ALGORITHM, summary,      \
                                                             &collpress_algorithm_};                                   \
    extern "C" const collpress_plugin_t *collpress_plugin(void) { return &collpress_plugin_; }

#endif
