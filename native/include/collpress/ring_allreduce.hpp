// The allreduce around a ring: p - 1 steps of reduce-scatter, then p - 1 of all-gather, each of one block of n / p.
#ifndef COLLPRESS_RING_ALLREDUCE_HPP
#define COLLPRESS_RING_ALLREDUCE_HPP

#include "collpress/partial_sum.hpp"
#include "collpress/ring.hpp"

#include <vector>

namespace collpress {

// A block travels in messages of `segment` elements; while one is reduced the next ones arrive. A partial sum arrives
// in its place in `recv`, where the rank's own contribution is added; only in place it needs scratch.
class RingAllreduce {
  public:
    RingAllreduce(const P2p &comm, const collpress_call &call, std::size_t segment)
        : comm_(comm), own_(contribution_of(call)), recv_(call.recv), segment_(segment), ring_(ring_of_ranks(comm)),
          blocks_{call.count, static_cast<std::size_t>(ring_.ranks)} {
        if (ring_.ranks == 1 && !in_place()) comm_.copy(recv_, own_, call.count);
    }

    void reduce_scatter() const {
        if (is_trivial()) return;
        std::byte *arrivals = in_place() ? comm_.scratch(comm_.bytes(blocks_.largest())) : nullptr;
        Messages sends(comm_, segments());
        std::vector<collpress_request> receives;
        for (std::int32_t step = 0; step < ring_.ranks - 1; ++step) {
            comm_.step();
            const std::size_t out = ring_.behind(step);
            const std::size_t in = ring_.behind(step + 1);
            std::byte *sum = comm_.at(recv_, blocks_.offset(in));
            std::byte *arrival = in_place() ? arrivals : sum;
            const std::byte *addend = in_place() ? arrivals : comm_.at(own_, blocks_.offset(in));
            const std::byte *source = comm_.at(step == 0 ? own_ : recv_, blocks_.offset(out));
            receives.clear();
            each_segment(in, [&](std::size_t first, std::size_t elements) {
                receives.push_back(comm_.receive(comm_.at(arrival, first), elements, ring_.left));
            });
            each_segment(out, [&](std::size_t first, std::size_t elements) {
                sends.send(comm_.at(source, first), elements, ring_.right);
            });
            each_segment(in, [&](std::size_t first, std::size_t elements) {
                comm_.wait(receives[first / segment_]);
                comm_.reduce(comm_.at(sum, first), comm_.at(addend, first), elements);
            });
            sends.complete();
        }
    }

    void allgather() const {
        if (is_trivial()) return;
        Messages messages(comm_, 2 * segments());
        for (std::int32_t step = 0; step < ring_.ranks - 1; ++step) {
            comm_.step();
            const std::size_t out = ring_.behind(step == 0 ? ring_.ranks - 1 : step - 1);
            const std::size_t in = ring_.behind(step);
            each_segment(in, [&](std::size_t first, std::size_t elements) {
                messages.receive(comm_.at(recv_, blocks_.offset(in) + first), elements, ring_.left);
            });
            each_segment(out, [&](std::size_t first, std::size_t elements) {
                messages.send(comm_.at(recv_, blocks_.offset(out) + first), elements, ring_.right);
            });
            messages.complete();
        }
    }

  private:
    bool in_place() const { return own_ == recv_; }
    bool is_trivial() const { return ring_.ranks == 1 || blocks_.count == 0; }
    std::int32_t segments() const { return static_cast<std::int32_t>(blocks_.largest() / segment_ + 1); }
    template <class Visit>
    void each_segment(std::size_t block, const Visit &visit) const {
        for (std::size_t first = 0; first < blocks_.size(block); first += segment_)
            visit(first, std::min(segment_, blocks_.size(block) - first));
    }

    P2p comm_;
    const void *own_;
    void *recv_;
    std::size_t segment_;
    RingPlace ring_;
    Blocks blocks_;
};

} // namespace collpress

#endif
