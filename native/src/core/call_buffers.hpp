// The memory of one rank's part in a call, and the state that it has before each iteration.
#pragma once

#include "collpress/algorithm.h"
#include "core/plan.hpp"
#include "measure/buffer.hpp"
#include "measure/data.hpp"
#include "measure/flush.hpp"

#include <cstddef>
#include <cstring>

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
        : contribution_(data.exchange().contribution(rank) * point.dtype.bytes, point.alignment),
          recv_(data.exchange().recv_elements(rank, point.in_place) * point.dtype.bytes, point.alignment),
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
    static std::size_t elements_of(std::size_t bytes, std::size_t element) {
        return bytes < element ? 1 : bytes / element;
    }

    void put_contribution() {
        if (contribution_.size() != 0) std::memcpy(recv_.data() + place_, contribution_.data(), contribution_.size());
    }

    Buffer contribution_;
    Buffer recv_;
    bool shared_;      // the contribution lies in recv
    bool overwritten_; // by the result
    bool cold_;
    std::size_t place_;
    collpress_call call_{};
};

} // namespace collpress
