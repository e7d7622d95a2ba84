#include "p2p/recorder.hpp"

#include "p2p/reduction.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace collpress {

namespace {

constexpr int unreceived = 0x5A; // what a receive buffer holds while it belongs to the transport
constexpr std::size_t largest_padding = 12;

struct StreamHead {
    std::uint64_t count;
    std::uint64_t bytes; // of the whole stream
};

// A stream may lie anywhere.
std::vector<std::int32_t> aligned(const std::byte *values, std::size_t count) {
    std::vector<std::int32_t> copy(count);
    if (count != 0) std::memcpy(copy.data(), values, count * sizeof(std::int32_t));
    return copy;
}

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
    case ScheduledOperation::Kind::accumulate:
        return "accumulate";
    case ScheduledOperation::Kind::add:
        return "add";
    }
    return "";
}

using Kind = ScheduledOperation::Kind;

Recorder::Recorder(Mailboxes &mailboxes, std::int32_t rank, std::int32_t ranks, std::int32_t ranks_per_node,
                   Acquaintance knows)
    : mailboxes_(mailboxes), ranks_per_node_(ranks_per_node), knows_(std::move(knows)),
      table_{this,     rank,     ranks,      element_bytes, send, receive, wait, reduce,    copy,   scratch,
             capacity, compress, decompress, accumulate,    add,  step,    node, tag_begin, tag_end} {}

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

// A stream is its count and its length, the values, and some bytes more.
std::size_t Recorder::longest_stream(std::size_t count) {
    return sizeof(StreamHead) + count * element_bytes + largest_padding;
}

std::size_t Recorder::capacity(void *, std::size_t count) { return longest_stream(count); }

std::byte *Recorder::new_stream(std::size_t count, void *out, std::size_t capacity, std::size_t *bytes) {
    // Other lengths than the streams of other ranks have, and than those before: who mixes them up is found out.
    const std::size_t padding = (static_cast<std::size_t>(table_.rank) + streams_made_++) % largest_padding;
    *bytes = sizeof(StreamHead) + count * element_bytes + padding;
    if (capacity < longest_stream(count)) {
        report("compresses into too small a buffer");
        *bytes = 0;
        return nullptr;
    }
    const StreamHead head{count, *bytes};
    auto *stream = static_cast<std::byte *>(out);
    std::memcpy(stream, &head, sizeof head);
    std::memset(stream + *bytes - padding, unreceived, padding);
    return stream + sizeof head;
}

const std::byte *Recorder::values_of(const void *in, std::size_t bytes, std::size_t count) {
    StreamHead head{};
    if (bytes >= sizeof head) std::memcpy(&head, in, sizeof head);
    if (bytes >= sizeof head && head.count == count && head.bytes == bytes)
        return static_cast<const std::byte *>(in) + sizeof head;
    report("decompresses a stream of another length");
    return nullptr;
}

std::size_t Recorder::compress(void *self, const void *in, std::size_t count, void *out, std::size_t capacity) {
    Recorder &me = of(self);
    me.note(Kind::compress, -1, count * element_bytes);
    std::size_t bytes = 0;
    std::byte *values = me.new_stream(count, out, capacity, &bytes);
    if (values != nullptr && count != 0) std::memcpy(values, in, count * element_bytes);
    return bytes;
}

void Recorder::decompress(void *self, const void *in, std::size_t bytes, void *out, std::size_t count) {
    Recorder &me = of(self);
    me.note(Kind::decompress, -1, count * element_bytes);
    const std::byte *values = me.values_of(in, bytes, count);
    if (values != nullptr && count != 0) std::memcpy(out, values, count * element_bytes);
}

void Recorder::accumulate(void *self, const void *in, std::size_t bytes, void *inout, std::size_t count) {
    Recorder &me = of(self);
    me.note(Kind::accumulate, -1, count * element_bytes);
    const std::byte *values = me.values_of(in, bytes, count);
    if (values != nullptr) reduction_of(COLLPRESS_INT32, COLLPRESS_SUM)(inout, aligned(values, count).data(), count);
}

std::size_t Recorder::add(void *self, const void *a, std::size_t a_bytes, const void *b, std::size_t b_bytes,
                          std::size_t count, void *out, std::size_t capacity) {
    Recorder &me = of(self);
    me.note(Kind::add, -1, count * element_bytes);
    const std::byte *first = me.values_of(a, a_bytes, count);
    const std::byte *second = me.values_of(b, b_bytes, count);
    std::size_t bytes = 0;
    std::byte *sum = me.new_stream(count, out, capacity, &bytes);
    if (first == nullptr || second == nullptr || sum == nullptr) return 0;
    std::vector<std::int32_t> values = aligned(first, count);
    reduction_of(COLLPRESS_INT32, COLLPRESS_SUM)(values.data(), aligned(second, count).data(), count);
    if (count != 0) std::memcpy(sum, values.data(), count * element_bytes);
    return bytes;
}

void Recorder::step(void *self) { ++of(self).step_; }

void Recorder::tag_begin(void *, const char *) {}

void Recorder::tag_end(void *) {}

std::int32_t Recorder::node(void *self, std::int32_t rank) {
    of(self).asked_for_nodes_ = true;
    return rank / of(self).ranks_per_node_;
}

} // namespace collpress
