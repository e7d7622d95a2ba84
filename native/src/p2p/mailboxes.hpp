// Messages between fibers that stand for ranks: sends and receives of a pair match in the order posted.
//
// What is sent is what the buffer holds when the send is posted, and it arrives when its receive is waited for: who
// reads, or changes, a buffer before it may always finds out.
#pragma once

#include "p2p/fibers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace collpress {

// Ranks whose calls happened before: those that a rank has heard of, itself included, through any chain of messages.
class Acquaintance {
  public:
    Acquaintance() = default; // knows nobody, and learns nothing
    Acquaintance(std::size_t ranks, std::size_t self) : words_((ranks + 63) / 64) {
        words_[self / 64] |= std::uint64_t{1} << (self % 64);
    }

    void learn(const Acquaintance &other) {
        for (std::size_t i = 0; i < words_.size() && i < other.words_.size(); ++i) words_[i] |= other.words_[i];
    }
    bool knows(std::size_t rank) const { return (words_[rank / 64] >> (rank % 64) & 1U) != 0; }

  private:
    std::vector<std::uint64_t> words_;
};

struct Parcel {
    std::vector<std::byte> content;
    Acquaintance sender_knows;
};

struct Message {
    std::size_t bytes = 0; // of a receive: its capacity until it is done
    std::shared_ptr<const Parcel> parcel;
    bool done = false;
    std::optional<Fibers::Id> waiting;
};

class Mailboxes {
  public:
    Mailboxes(Fibers &fibers, std::int32_t ranks) : fibers_(fibers), ranks_(ranks) {}

    std::shared_ptr<Message> post_send(std::int32_t rank, std::int32_t to, const void *buffer, std::size_t bytes,
                                       const Acquaintance &knows) {
        auto message = std::make_shared<Message>();
        auto parcel = std::make_shared<Parcel>();
        parcel->content.resize(bytes);
        if (bytes != 0) std::memcpy(parcel->content.data(), buffer, bytes);
        parcel->sender_knows = knows;
        message->bytes = bytes;
        message->parcel = std::move(parcel);
        if (Pair *pair = pair_of(rank, to, rank, *message); pair != nullptr) {
            pair->sends.push_back(message);
            match(*pair);
        }
        return message;
    }

    std::shared_ptr<Message> post_receive(std::int32_t rank, std::int32_t from, std::size_t capacity) {
        auto message = std::make_shared<Message>();
        message->bytes = capacity;
        if (Pair *pair = pair_of(from, rank, rank, *message); pair != nullptr) {
            pair->receives.push_back(message);
            match(*pair);
        }
        return message;
    }

    struct Completion {
        std::size_t bytes = 0;                // that moved
        std::shared_ptr<const Parcel> parcel; // null where nothing did
    };

    Completion wait(Message &message) {
        if (!message.done && !stuck_) {
            message.waiting = fibers_.current();
            waiting_.insert(&message);
            fibers_.sleep();
        }
        if (!message.done) return {};
        return {message.bytes, std::move(message.parcel)};
    }

    // Every rank that still runs is waiting: all of them are let go.
    void let_go() {
        keep("deadlock: every rank that still runs waits for a message");
        stuck_ = true;
        for (const Message *message : waiting_) wake(*message);
        waiting_.clear();
    }

    void report(const std::string &fault) { keep(fault); }

    const std::string &fault() const { return fault_; }

  private:
    using Queue = std::deque<std::shared_ptr<Message>>;
    struct Pair {
        Queue sends;
        Queue receives;
    };

    // Null, with the message done and the fault kept, when there can be no such message.
    Pair *pair_of(std::int32_t from, std::int32_t to, std::int32_t rank, Message &message) {
        const bool exist = from >= 0 && to >= 0 && from < ranks_ && to < ranks_;
        if (exist && from != to) {
            return &pairs_[std::int64_t{from} * ranks_ + to];
        }
        keep("rank " + std::to_string(rank) +
             (exist ? " sends to itself, or receives from itself" : " names a rank that does not exist"));
        message.bytes = 0;
        message.parcel = nullptr;
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

    void wake(const Message &message) {
        if (message.waiting.has_value()) fibers_.wake(*message.waiting);
    }

    void deliver(Message &send, Message &receive) {
        if (send.bytes > receive.bytes) keep("a message is longer than its receive buffer");
        receive.bytes = std::min(send.bytes, receive.bytes);
        receive.parcel = send.parcel;
        for (Message *message : {&send, &receive}) {
            message->done = true;
            if (waiting_.erase(message) != 0) wake(*message);
        }
    }

    void keep(const std::string &fault) {
        if (fault_.empty()) fault_ = fault;
    }

    Fibers &fibers_;
    const std::int32_t ranks_;
    std::unordered_map<std::int64_t, Pair> pairs_;
    std::set<Message *> waiting_;
    bool stuck_ = false;
    std::string fault_;
};

} // namespace collpress
