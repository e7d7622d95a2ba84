// Messages between threads that stand for ranks: sends and receives of a pair match in the order posted.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace collpress {

struct Message {
    Message(const void *source, void *target, std::size_t length) : from(source), to(target), bytes(length) {}

    const void *from;
    void *to;
    std::size_t bytes;
    bool done = false;
    std::condition_variable changed;
};

class Mailboxes {
  public:
    explicit Mailboxes(std::int32_t ranks)
        : ranks_(ranks), pairs_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)), running_(ranks) {}

    std::shared_ptr<Message> post_send(std::int32_t rank, std::int32_t to, const void *buffer, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        auto message = std::make_shared<Message>(buffer, nullptr, bytes);
        if (Pair *pair = pair_of(rank, to, rank, *message); pair != nullptr) {
            pair->sends.push_back(message);
            match(*pair);
        }
        return message;
    }

    std::shared_ptr<Message> post_receive(std::int32_t rank, std::int32_t from, void *buffer, std::size_t capacity) {
        const std::lock_guard lock(mutex_);
        auto message = std::make_shared<Message>(nullptr, buffer, capacity);
        if (Pair *pair = pair_of(from, rank, rank, *message); pair != nullptr) {
            pair->receives.push_back(message);
            match(*pair);
        }
        return message;
    }

    // Bytes that moved. When every rank that still runs is waiting, all of them are let go.
    std::size_t wait(Message &message) {
        std::unique_lock lock(mutex_);
        if (!message.done && !stuck_) {
            waiting_.insert(&message);
            notice_deadlock();
            message.changed.wait(lock, [&] { return message.done || stuck_; });
        }
        return message.done ? message.bytes : 0;
    }

    void finish() {
        const std::lock_guard lock(mutex_);
        --running_;
        notice_deadlock();
    }

    void report(const std::string &fault) {
        const std::lock_guard lock(mutex_);
        keep(fault);
    }

    std::string fault() const {
        const std::lock_guard lock(mutex_);
        return fault_;
    }

    bool has_unmatched() const {
        const std::lock_guard lock(mutex_);
        return std::any_of(pairs_.begin(), pairs_.end(),
                           [](const Pair &pair) { return !pair.sends.empty() || !pair.receives.empty(); });
    }

  private:
    using Queue = std::deque<std::shared_ptr<Message>>;
    struct Pair {
        Queue sends;
        Queue receives;
    };

    // Null, with the message done and the fault kept, when a rank does not exist.
    Pair *pair_of(std::int32_t from, std::int32_t to, std::int32_t rank, Message &message) {
        if (from >= 0 && to >= 0 && from < ranks_ && to < ranks_) {
            return &pairs_[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) +
                           static_cast<std::size_t>(to)];
        }
        keep("rank " + std::to_string(rank) + " names a rank that does not exist");
        message.bytes = 0;
        message.done = true;
        return nullptr;
    }

    void match(Pair &pair) {
        while (!pair.sends.empty() && !pair.receives.empty()) {
            deliver(*pair.sends.front(), *pair.receives.front());
            pair.sends.pop_front();
            pair.receives.pop_front();
        }
    }

    void deliver(Message &send, Message &receive) {
        if (send.bytes > receive.bytes) keep("a message is longer than its receive buffer");
        receive.bytes = std::min(send.bytes, receive.bytes);
        if (receive.bytes != 0) std::memcpy(receive.to, send.from, receive.bytes);
        for (Message *message : {&send, &receive}) {
            message->done = true;
            waiting_.erase(message);
            message->changed.notify_all();
        }
    }

    void notice_deadlock() {
        if (running_ == 0 || waiting_.size() < static_cast<std::size_t>(running_)) return;
        keep("deadlock: every rank that still runs waits for a message");
        stuck_ = true;
        for (Message *message : waiting_) message->changed.notify_all();
    }

    void keep(const std::string &fault) {
        if (fault_.empty()) fault_ = fault;
    }

    const std::int32_t ranks_;
    std::vector<Pair> pairs_;
    mutable std::mutex mutex_;
    std::int32_t running_;
    std::set<Message *> waiting_;
    bool stuck_ = false;
    std::string fault_;
};

} // namespace collpress
