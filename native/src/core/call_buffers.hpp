// The memory of one rank's part in a call, the state that it has before each iteration, and what no call may touch:
// what the rank sends, and some bytes on either side of both buffers.
#pragma once

#include "collpress/algorithm.h"
#include "core/plan.hpp"
#include "measure/buffer.hpp"
#include "measure/data.hpp"
#include "measure/flush.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

namespace collpress {

class CallBuffers {
  public:
    // Bytes that the buffers of all ranks take.
    static std::size_t bytes_of_all(const PlanPoint &point, const Exchange &exchange) {
        std::size_t elements = 0;
        for (std::size_t rank = 0; rank < exchange.ranks(); ++rank)
            elements += exchange.contribution(rank) + exchange.recv_elements(rank, point.in_place);
        return elements * point.dtype.bytes;
    }

    // Throws std::bad_alloc.
    CallBuffers(const PlanPoint &point, const DataSource &data, std::size_t rank)
        : contribution_(data.exchange().contribution(rank) * point.dtype.bytes, point.alignment, rank),
          recv_(data.exchange().recv_elements(rank, point.in_place) * point.dtype.bytes, point.alignment, rank),
          shared_(data.exchange().contributes_in_recv(rank, point.in_place)), overwritten_(shared_ && point.in_place),
          cold_(point.cold), place_(data.exchange().place(rank) * point.dtype.bytes) {
        const Exchange &exchange = data.exchange();
        data.copy(rank, 0, exchange.contribution(rank), contribution_.data());
        call_ = {exchange.sends(rank, point.in_place) ? contribution_.data() : nullptr,
                 exchange.receives(rank) ? recv_.data() : nullptr,
                 exchange.count(),
                 static_cast<std::uint32_t>(point.dtype.id),
                 static_cast<std::uint32_t>(point.op),
                 static_cast<std::int32_t>(exchange.root()),
                 exchange.counts().empty() ? nullptr : exchange.counts().data(),
                 point.segment_bytes.has_value() ? elements_of(*point.segment_bytes, point.dtype.bytes) : 0,
                 point.fanout.value_or(0)};
    }

    const collpress_call &call() const { return call_; }
    const std::byte *contribution() const { return contribution_.data(); }
    std::byte *recv() const { return recv_.data(); }
    // What the rank contributes from now on, to be overwritten between calls.
    std::byte *next_contribution() { return contribution_.data(); }

    // What a call wrote outside of its buffers since the beginning; empty where all is as it was.
    std::string written_outside() const {
        const std::string behind_recv = recv_.written_outside("receive buffer");
        return behind_recv.empty() ? contribution_.written_outside("send buffer") : behind_recv;
    }

    // Before an iteration, outside of timed regions. `poison`: what the call does not write shows in a check.
    void prepare(bool poison) {
        // NaN in every floating-point element, -1 in every integer.
        if (poison && recv_.size() != 0) std::memset(recv_.data(), 0xFF, recv_.size());
        if ((poison && shared_) || overwritten_) put_contribution();
        if (!cold_) return;
        flush(contribution_.data(), contribution_.size());
        flush(recv_.data(), recv_.size());
    }

  private:
    // Other bytes on every rank: what lies beside one rank's buffer must not pass for what lies beside another's.
    class GuardedBuffer {
      public:
        GuardedBuffer(std::size_t bytes, std::size_t alignment, std::size_t rank)
            : memory_(bytes + guard, alignment), size_(bytes), mark_(static_cast<std::byte>(0xA5 ^ (rank & 0xFF))) {
            std::fill_n(data() - guard, guard, mark_);
            std::fill_n(data() + size_, guard, mark_);
        }

        std::byte *data() const { return memory_.data(); }
        std::size_t size() const { return size_; }

        std::string written_outside(const char *name) const {
            for (std::size_t i = 0; i < guard; ++i) {
                if (data()[size_ + i] != mark_) return told(data()[size_ + i], i + 1, "behind the end", name);
                const std::byte before = *(data() - i - 1);
                if (before != mark_) return told(before, i + 1, "before the beginning", name);
            }
            return "";
        }

      private:
        static constexpr std::size_t guard = Buffer::least_alignment;

        std::string told(std::byte got, std::size_t distance, const char *where, const char *name) const {
            return "byte " + std::to_string(distance) + " " + where + " of its " + name + ": got " +
                   std::to_string(std::to_integer<int>(got)) + ", expected " +
                   std::to_string(std::to_integer<int>(mark_));
        }

        Buffer memory_;
        std::size_t size_;
        std::byte mark_;
    };

    static std::size_t elements_of(std::size_t bytes, std::size_t element) {
        return bytes < element ? 1 : bytes / element;
    }

    void put_contribution() {
        if (contribution_.size() != 0) std::memcpy(recv_.data() + place_, contribution_.data(), contribution_.size());
    }

    GuardedBuffer contribution_;
    GuardedBuffer recv_;
    bool shared_;      // the contribution lies in recv
    bool overwritten_; // by the result
    bool cold_;
    std::size_t place_;
    collpress_call call_{};
};

} // namespace collpress
