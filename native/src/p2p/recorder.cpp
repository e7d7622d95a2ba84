#include "p2p/recorder.hpp"

#include "p2p/reduction.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace collpress {

namespace {

constexpr int unreceived = 0x5A; // what a receive buffer holds while it belongs to the transport

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

using Kind = ScheduledOperation::Kind;

Recorder::Recorder(Mailboxes &mailboxes, std::int32_t rank, std::int32_t ranks, std::int32_t ranks_per_node,
                   Acquaintance knows)
    : mailboxes_(mailboxes), ranks_per_node_(ranks_per_node), knows_(std::move(knows)),
      table_{this,    rank,     ranks,    element_bytes, send, receive, wait,      reduce, copy,
             scratch, capacity, compress, decompress,    step, node,    tag_begin, tag_end} {}

bool Recorder::has_open_requests() const {
    return std::any_of(requests_.begin(), requests_.end(), [](const Request &request) { return request.open; });
}

collpress_request Recorder::open(std::shared_ptr<Message> message, const void *source, void *target) {
    requests_.push_back({std::move(message), true, operations_.size() - 1, source, target});
    return static_cast<collpress_request>(requests_.size() - 1);
}

collpress_request Recorder::send(void *self, const void *buffer, std::size_t bytes, std::int32_t to) {
    Recorder &me = of(self);
    me.note(Kind::send, to, bytes);
    return me.open(me.mailboxes_.post_send(me.table_.rank, to, buffer, bytes, me.knows_), buffer, nullptr);
}

collpress_request Recorder::receive(void *self, void *buffer, std::size_t capacity, std::int32_t from) {
    Recorder &me = of(self);
    me.note(Kind::receive, from, capacity);
    if (capacity != 0) std::memset(buffer, unreceived, capacity);
    return me.open(me.mailboxes_.post_receive(me.table_.rank, from, capacity), nullptr, buffer);
}

std::size_t Recorder::wait(void *self, collpress_request number) {
    Recorder &me = of(self);
    const bool known = number >= 0 && static_cast<std::size_t>(number) < me.requests_.size();
    if (!known || !me.requests_[static_cast<std::size_t>(number)].open) {
        me.report("waits for a request that is not open");
        return 0;
    }
    Request &request = me.requests_[static_cast<std::size_t>(number)];
    request.open = false;
    const auto [bytes, parcel] = me.mailboxes_.wait(*request.message);
    request.message.reset();
    const bool receives = me.operations_[request.operation].kind == Kind::receive;
    if (receives) me.operations_[request.operation].bytes = bytes;
    if (parcel == nullptr) return bytes;
    if (receives) {
        if (bytes != 0) std::memcpy(request.target, parcel->content.data(), bytes);
        me.knows_.learn(parcel->sender_knows);
    } else if (bytes != 0 && std::memcmp(request.source, parcel->content.data(), bytes) != 0) {
        me.report("changes what it is still sending");
    }
    return bytes;
}

void Recorder::reduce(void *self, void *inout, const void *in, std::size_t count) {
    of(self).note(Kind::reduce, -1, count * element_bytes);
    reduction_of(COLLPRESS_INT32, COLLPRESS_SUM)(inout, in, count);
}

void Recorder::copy(void *self, void *to, const void *from, std::size_t bytes) {
    of(self).note(Kind::copy, -1, bytes);
    if (bytes != 0) std::memcpy(to, from, bytes);
}

void *Recorder::scratch(void *self, std::size_t bytes) { return of(self).arena_.take(bytes); }

std::size_t Recorder::capacity(void *, std::size_t count) { return count * element_bytes; }

std::size_t Recorder::compress(void *self, const void *in, std::size_t count, void *out, std::size_t capacity) {
    const std::size_t bytes = count * element_bytes;
    of(self).note(Kind::compress, -1, bytes);
    if (capacity < bytes) {
        of(self).report("compresses into too small a buffer");
        return 0;
    }
    if (bytes != 0) std::memcpy(out, in, bytes);
    return bytes;
}

void Recorder::decompress(void *self, const void *in, std::size_t bytes, void *out, std::size_t count) {
    of(self).note(Kind::decompress, -1, count * element_bytes);
    if (bytes != count * element_bytes) {
        of(self).report("decompresses a stream of another length");
        return;
    }
    if (bytes != 0) std::memcpy(out, in, bytes);
}

void Recorder::step(void *self) { ++of(self).step_; }

void Recorder::tag_begin(void *, const char *) {}

void Recorder::tag_end(void *) {}

std::int32_t Recorder::node(void *self, std::int32_t rank) {
    of(self).asked_for_nodes_ = true;
    return rank / of(self).ranks_per_node_;
}

} // namespace collpress
