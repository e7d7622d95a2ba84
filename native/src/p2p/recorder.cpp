#include "p2p/recorder.hpp"

#include "p2p/arena.hpp"
#include "p2p/mailboxes.hpp"
#include "p2p/reduction.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>

namespace collpress {

namespace {

constexpr std::size_t element_bytes = sizeof(std::int32_t);

// Well mixed, so that no wrong combination of contributions has the right sum except by a chance of 2^-32.
std::uint32_t contribution(std::size_t rank, std::size_t index) {
    std::uint64_t x = (static_cast<std::uint64_t>(rank) << 40) + index + 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return static_cast<std::uint32_t>(x ^ (x >> 31));
}

// One rank's side of the interface.
class Recorder {
  public:
    Recorder(Mailboxes &mailboxes, std::int32_t rank, std::int32_t ranks)
        : mailboxes_(mailboxes), rank_(rank),
          table_{this, rank,    ranks,    element_bytes, send,       receive, wait, reduce,
                 copy, scratch, capacity, compress,      decompress, step,    node} {}

    const collpress_p2p *table() const { return &table_; }
    std::vector<ScheduledOperation> take_operations() { return std::move(operations_); }
    std::size_t open_requests() const {
        return static_cast<std::size_t>(
            std::count_if(requests_.begin(), requests_.end(), [](const Request &r) { return r.open; }));
    }

  private:
    using Kind = ScheduledOperation::Kind;

    struct Request {
        std::shared_ptr<Message> message;
        bool open;
        std::size_t operation; // a receive's bytes are known when it completes
        bool is_receive;
    };

    static Recorder &of(void *self) { return *static_cast<Recorder *>(self); }

    void note(Kind kind, std::int32_t peer, std::size_t bytes) { operations_.push_back({step_, kind, peer, bytes}); }

    collpress_request open(std::shared_ptr<Message> message, bool is_receive) {
        requests_.push_back({std::move(message), true, operations_.size() - 1, is_receive});
        return static_cast<collpress_request>(requests_.size() - 1);
    }

    static collpress_request send(void *self, const void *buffer, std::size_t bytes, std::int32_t to) {
        Recorder &me = of(self);
        me.note(Kind::send, to, bytes);
        return me.open(me.mailboxes_.post_send(me.rank_, to, buffer, bytes), false);
    }

    static collpress_request receive(void *self, void *buffer, std::size_t capacity, std::int32_t from) {
        Recorder &me = of(self);
        me.note(Kind::receive, from, capacity);
        return me.open(me.mailboxes_.post_receive(me.rank_, from, buffer, capacity), true);
    }

    static std::size_t wait(void *self, collpress_request request) {
        Recorder &me = of(self);
        const bool known = request >= 0 && static_cast<std::size_t>(request) < me.requests_.size();
        if (!known || !me.requests_[static_cast<std::size_t>(request)].open) {
            me.mailboxes_.report("rank " + std::to_string(me.rank_) + " waits for a request that is not open");
            return 0;
        }
        Request &waiting = me.requests_[static_cast<std::size_t>(request)];
        waiting.open = false;
        const std::size_t bytes = me.mailboxes_.wait(*waiting.message);
        if (waiting.is_receive) me.operations_[waiting.operation].bytes = bytes;
        return bytes;
    }

    static void reduce(void *self, void *inout, const void *in, std::size_t count) {
        of(self).note(Kind::reduce, -1, count * element_bytes);
        reduction_of(COLLPRESS_INT32, COLLPRESS_SUM)(inout, in, count);
    }

    static void copy(void *self, void *to, const void *from, std::size_t bytes) {
        of(self).note(Kind::copy, -1, bytes);
        std::memcpy(to, from, bytes);
    }

    static void *scratch(void *self, std::size_t bytes) { return of(self).arena_.take(bytes); }

    static std::size_t capacity(void *, std::size_t count) { return count * element_bytes; }

    static std::size_t compress(void *self, const void *in, std::size_t count, void *out, std::size_t capacity) {
        const std::size_t bytes = count * element_bytes;
        of(self).note(Kind::compress, -1, bytes);
        if (capacity < bytes) {
            of(self).mailboxes_.report("rank " + std::to_string(of(self).rank_) +
                                       " compresses into too small a buffer");
            return 0;
        }
        std::memcpy(out, in, bytes);
        return bytes;
    }

    static void decompress(void *self, const void *in, std::size_t bytes, void *out, std::size_t count) {
        of(self).note(Kind::decompress, -1, count * element_bytes);
        if (bytes != count * element_bytes) {
            of(self).mailboxes_.report("rank " + std::to_string(of(self).rank_) +
                                       " decompresses a stream of another length");
            return;
        }
        std::memcpy(out, in, bytes);
    }

    static void step(void *self) { ++of(self).step_; }

    static std::int32_t node(void *, std::int32_t) { return 0; }

    Mailboxes &mailboxes_;
    std::int32_t rank_;
    collpress_p2p table_;
    Arena arena_;
    std::vector<Request> requests_;
    std::vector<ScheduledOperation> operations_;
    std::int32_t step_ = 0;
};

} // namespace

const char *operation_name(ScheduledOperation::Kind kind) {
    switch (kind) {
    case ScheduledOperation::Kind::send:
        return "send";
    case ScheduledOperation::Kind::receive:
        return "receive";
    case ScheduledOperation::Kind::reduce:
        return "reduce";
    case ScheduledOperation::Kind::copy:
        return "copy";
    case ScheduledOperation::Kind::compress:
        return "compress";
    case ScheduledOperation::Kind::decompress:
        return "decompress";
    }
    return "";
}

Schedule record_schedule(const collpress_algorithm &algorithm, std::int32_t ranks, std::size_t count) {
    const auto size = static_cast<std::size_t>(ranks);
    std::vector<std::vector<std::uint32_t>> send(size);
    std::vector<std::vector<std::uint32_t>> recv(size);
    std::vector<std::uint32_t> expected(count);
    for (std::size_t rank = 0; rank < size; ++rank) {
        send[rank].resize(count);
        recv[rank].assign(count, 0xA5A5A5A5U);
        for (std::size_t i = 0; i < count; ++i) {
            send[rank][i] = contribution(rank, i);
            expected[i] += send[rank][i];
        }
    }

    Mailboxes mailboxes(ranks);
    std::vector<std::unique_ptr<Recorder>> recorders;
    std::vector<std::thread> threads;
    for (std::int32_t rank = 0; rank < ranks; ++rank)
        recorders.push_back(std::make_unique<Recorder>(mailboxes, rank, ranks));
    for (std::size_t rank = 0; rank < size; ++rank) {
        threads.emplace_back([&, rank] {
            const collpress_call call{send[rank].data(), recv[rank].data(), count, COLLPRESS_INT32, COLLPRESS_SUM};
            algorithm.run(recorders[rank]->table(), &call);
            mailboxes.finish();
        });
    }
    for (std::thread &thread : threads) thread.join();

    Schedule schedule;
    schedule.fault = mailboxes.fault();
    for (std::size_t rank = 0; rank < size; ++rank) {
        const std::string name = "rank " + std::to_string(rank);
        if (schedule.fault.empty() && recorders[rank]->open_requests() != 0)
            schedule.fault = name + " left requests open";
        if (schedule.fault.empty() && recv[rank] != expected) schedule.fault = name + " has a wrong result";
        schedule.by_rank.push_back(recorders[rank]->take_operations());
    }
    if (schedule.fault.empty() && mailboxes.has_unmatched()) schedule.fault = "a message was sent that nobody received";
    return schedule;
}

} // namespace collpress
