// Any number p of ranks as a power of two of positions.
//
// Of the first 2r ranks, r = p - 2^floor(log2 p), each odd one is `surplus` and shares the position of the rank before
// it; every other rank has a position of its own. So positions are runs of one or two neighbouring ranks, in order, and
// rank 0 is never surplus. The pairing is that of R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective
// Communication Operations in MPICH. Int. J. High Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect.
// 4.5, with the other one of each pair idle.
#ifndef COLLPRESS_PAIRED_RANKS_HPP
#define COLLPRESS_PAIRED_RANKS_HPP

#include "collpress/p2p.hpp"

namespace collpress {

class PairedRanks {
  public:
    explicit PairedRanks(std::int32_t ranks)
        : ranks_(ranks), positions_(largest_power_of_two(ranks)), pairs_(ranks - positions_) {}

    std::int32_t positions() const { return positions_; }
    bool any_surplus() const { return pairs_ != 0; }
    bool in_pair(std::int32_t rank) const { return rank < 2 * pairs_; }
    bool is_surplus(std::int32_t rank) const { return in_pair(rank) && rank % 2 == 1; }
    std::int32_t position(std::int32_t rank) const { return in_pair(rank) ? rank / 2 : rank - pairs_; }

    // The rank at a position. Positions go on below 0, as ranks do: position -1 is the last one, p ranks before itself.
    std::int32_t rank_at(std::int32_t position) const {
        if (position < 0) return rank_at(position + positions_) - ranks_;
        return position < pairs_ ? 2 * position : position + pairs_;
    }

  private:
    std::int32_t ranks_;
    std::int32_t positions_;
    std::int32_t pairs_;
};

} // namespace collpress

#endif
