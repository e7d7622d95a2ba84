// One rank's side of the point-to-point interface, without MPI: messages go to other ranks in this process, and what
// the rank does is noted.
//
// A send completes only when its receive is posted: an algorithm that relies on buffering, or waits for a message that
// nobody sends, stops here as a deadlock. The operation is the sum of int32. The codec loses nothing, but has streams
// as real ones are: longer or shorter than those of others, shorter than was promised, and of no use to who takes
// another one for them, or has another count in mind.
#pragma once

#include "collpress/algorithm.h"

#include "p2p/arena.hpp"
#include "p2p/mailboxes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace collpress {

struct ScheduledOperation {
    enum class Kind { send, receive, reduce, copy, compress, decompress, accumulate, add };

    std::int32_t step; // 0: before the algorithm's first step
    Kind kind;
    std::int32_t peer; // -1: none
    std::size_t bytes;
};

const char *operation_name(ScheduledOperation::Kind kind);

class Recorder {
  public:
    static constexpr std::size_t element_bytes = sizeof(std::int32_t);
    static std::size_t longest_stream(std::size_t count); // of so many values

    // Of the machines, each runs `ranks_per_node` consecutive ranks.
    Recorder(Mailboxes &mailboxes, std::int32_t rank, std::int32_t ranks, std::int32_t ranks_per_node,
             Acquaintance knows);
    Recorder(const Recorder &) = delete;
    Recorder &operator=(const Recorder &) = delete;

    const collpress_p2p *table() const { return &table_; }

    // After the run.
    const std::vector<ScheduledOperation> &operations() const { return operations_; }
    const Acquaintance &knows() const { return knows_; }
    bool has_open_requests() const;
    bool asked_for_nodes() const { return asked_for_nodes_; }

  private:
    struct Request {
        std::shared_ptr<Message> message;
        bool open;
        std::size_t operation; // a receive's bytes are known when it completes
        const void *source;    // of a send
        void *target;          // of a receive
    };

    static Recorder &of(void *self) { return *static_cast<Recorder *>(self); }
    void note(ScheduledOperation::Kind kind, std::int32_t peer, std::size_t bytes) {
        operations_.push_back({step_, kind, peer, bytes});
    }
    void report(const std::string &what) { mailboxes_.report("rank " + std::to_string(table_.rank) + " " + what); }
    collpress_request open(std::shared_ptr<Message> message, const void *source, void *target);
    // Where a stream of `count` values is begun; null, and the fault is noted, where it does not fit.
    std::byte *new_stream(std::size_t count, void *out, std::size_t capacity, std::size_t *bytes);
    // The values of a stream; null, and the fault is noted, where there is none of that count and length.
    const std::byte *values_of(const void *in, std::size_t bytes, std::size_t count);

    static collpress_request send(void *self, const void *buffer, std::size_t bytes, std::int32_t to);
    static collpress_request receive(void *self, void *buffer, std::size_t capacity, std::int32_t from);
    static std::size_t wait(void *self, collpress_request request);
    static void reduce(void *self, void *inout, const void *in, std::size_t count);
    static void copy(void *self, void *to, const void *from, std::size_t bytes);
    static void *scratch(void *self, std::size_t bytes);
    static std::size_t capacity(void *self, std::size_t count);
    static std::size_t compress(void *self, const void *in, std::size_t count, void *out, std::size_t capacity);
    static void decompress(void *self, const void *in, std::size_t bytes, void *out, std::size_t count);
    static void accumulate(void *self, const void *in, std::size_t bytes, void *inout, std::size_t count);
    static std::size_t add(void *self, const void *a, std::size_t a_bytes, const void *b, std::size_t b_bytes,
                           std::size_t count, void *out, std::size_t capacity);
    static void step(void *self);
    static std::int32_t node(void *self, std::int32_t rank);
    static void tag_begin(void *self, const char *name);
    static void tag_end(void *self);

    Mailboxes &mailboxes_;
    std::int32_t ranks_per_node_;
    Acquaintance knows_;
    collpress_p2p table_;
    Arena arena_;
    std::vector<Request> requests_;
    std::vector<ScheduledOperation> operations_;
    std::int32_t step_ = 0;
    std::size_t streams_made_ = 0;
    bool asked_for_nodes_ = false;
};

} // namespace collpress
