// A rank's vector in a reduction: its own contribution at first, then sums of more and more ranks' vectors.
#ifndef COLLPRESS_PARTIAL_SUM_HPP
#define COLLPRESS_PARTIAL_SUM_HPP

#include "collpress/p2p.hpp"

namespace collpress {

// What arrives first is received right where the sums are kept, and the contribution is added to it there: nothing is
// copied. From then on the sum is only where something was added: an algorithm adds whole vectors, or smaller and
// smaller parts of the part before.
class PartialSum {
  public:
    // `work` has room for `count` elements; `own`: a call in place; null: scratch is taken when needed. `own` changes
    // only in place.
    PartialSum(const P2p &comm, const void *own, void *work, std::size_t count)
        : comm_(comm), own_(own), sum_(own), work_(work), count_(count) {}

    // The sum so far.
    const std::byte *at(std::size_t element) const { return comm_.at(sum_, element); }
    bool is_own() const { return sum_ == own_; }
    // Where the sum is kept, whether or not there is one yet.
    std::byte *work(std::size_t element) {
        if (work_ == nullptr) work_ = comm_.scratch(comm_.bytes(count_));
        return comm_.at(work_, element);
    }

    void receive_and_add(std::size_t first, std::size_t elements, std::int32_t from) {
        exchange_and_add(0, 0, from, first, elements, from);
    }
    void exchange_and_add(std::size_t out_first, std::size_t out_elements, std::int32_t to, std::size_t first,
                          std::size_t elements, std::int32_t from) {
        if (elements == 0) {
            comm_.exchange(at(out_first), out_elements, to, nullptr, 0, from);
            return;
        }
        std::byte *result = work(first);
        const bool is_first = sum_ != work_;
        std::byte *arrival = is_first ? result : arrivals(elements);
        comm_.exchange(at(out_first), out_elements, to, arrival, elements, from);
        comm_.reduce(result, is_first ? at(first) : arrival, elements);
        sum_ = work_;
    }

  private:
    std::byte *arrivals(std::size_t elements) {
        if (elements > arrivals_elements_) {
            arrivals_ = comm_.scratch(comm_.bytes(elements));
            arrivals_elements_ = elements;
        }
        return arrivals_;
    }

    P2p comm_;
    const void *own_;
    const void *sum_;
    void *work_;
    std::size_t count_;
    std::byte *arrivals_ = nullptr;
    std::size_t arrivals_elements_ = 0;
};

// What a rank contributes to a reduction, in place or not.
inline const void *contribution_of(const collpress_call &call) { return call.send == nullptr ? call.recv : call.send; }

} // namespace collpress

#endif
