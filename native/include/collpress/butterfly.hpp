// Butterflies on a power of two of positions: in each of log2 p exchanges every position has another partner. A vector
// is reduced and scattered by halving it in each exchange, and gathered again by doubling it on the way back.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.4 and 4.5.
//
// A butterfly says who is the partner in an exchange, and a position's path: bit l is the half that it keeps in
// exchange l, 0 the lower one. The paths of partners in exchange l differ in bit l and in no other; position 0 keeps
// lower halves only.
#ifndef COLLPRESS_BUTTERFLY_HPP
#define COLLPRESS_BUTTERFLY_HPP

#include "collpress/bine.hpp"
#include "collpress/team.hpp"

namespace collpress {

constexpr std::uint32_t reversed_bits(std::uint32_t bits, std::int32_t width) {
    std::uint32_t reversed = 0;
    for (std::int32_t i = 0; i < width; ++i) reversed |= (bits >> i & 1U) << (width - 1 - i);
    return reversed;
}

// From the nearest partner to the farthest.
struct NearestFirst {
    static std::int32_t partner(std::int32_t position, std::int32_t level, std::int32_t) {
        return position ^ (1 << level);
    }
    static std::uint32_t path(std::int32_t position, std::int32_t) { return static_cast<std::uint32_t>(position); }
    static std::int32_t position(std::uint32_t path, std::int32_t) { return static_cast<std::int32_t>(path); }
};

// From the farthest partner to the nearest: position i ends with part i.
struct FarthestFirst {
    static std::int32_t partner(std::int32_t position, std::int32_t level, std::int32_t levels) {
        return position ^ (1 << (levels - 1 - level));
    }
    static std::uint32_t path(std::int32_t position, std::int32_t levels) {
        return reversed_bits(static_cast<std::uint32_t>(position), levels);
    }
    static std::int32_t position(std::uint32_t path, std::int32_t levels) {
        return static_cast<std::int32_t>(reversed_bits(path, levels));
    }
};

// Bine: the distance doubles. The path is v(r, p) of the paper (SC 2025): in the negabinary digits of r (even
// ranks: of -r) each bit says whether a digit is another than the next one.
struct Bine {
    static std::int32_t partner(std::int32_t position, std::int32_t level, std::int32_t levels) {
        return bine_partner(position, level, 1 << levels);
    }
    static std::uint32_t path(std::int32_t position, std::int32_t levels) {
        const std::uint32_t digits = to_negabinary(position % 2 == 0 ? -position : position) & low_bits(levels);
        return digits ^ (digits >> 1);
    }
    static std::int32_t position(std::uint32_t path, std::int32_t levels) {
        std::uint32_t digits = path;
        for (std::int32_t shift = 1; shift < 32; shift *= 2) digits ^= digits >> shift;
        const std::int32_t value = from_negabinary(digits);
        return (value % 2 == 0 ? -value : value) & ((1 << levels) - 1);
    }
};

struct Parts { // [first, last) of as many parts of the vector as there are positions
    std::size_t first;
    std::size_t last;
};

// The parts that a position holds after `exchanges`.
inline Parts held_after(std::uint32_t path, std::int32_t exchanges, std::int32_t levels) {
    const std::size_t first = std::size_t{reversed_bits(path & low_bits(exchanges), levels)};
    return {first, first + (std::size_t{1} << (levels - exchanges))};
}

// One position's exchanges. `Layout` has offset(part) for 0 ... positions.
template <class Butterfly, class Layout>
class Halving {
  public:
    Halving(const P2p &comm, const Positions &positions, const Layout &layout)
        : comm_(comm), positions_(positions), layout_(layout), levels_(positions.levels()),
          path_(Butterfly::path(positions.mine(), levels_)) {}

    std::int32_t levels() const { return levels_; }
    std::size_t part() const { return held_after(path_, levels_, levels_).first; } // that is held in the end
    std::uint32_t path() const { return path_; }

    // Marks no step.
    void reduce(PartialSum &sum, std::int32_t level) const {
        const std::int32_t partner = this->partner(level);
        const Parts kept = this->kept(level);
        const Parts given = this->given(level);
        sum.exchange_and_add(offset(given), size(given), partner, offset(kept), size(kept), partner);
    }
    void reduce(PartialSum &sum) const {
        CP_TAG(comm_, "reduce-scatter");
        for (std::int32_t level = 0; level < levels_; ++level) {
            comm_.step();
            if (!positions_.idle()) reduce(sum, level);
        }
    }
    void gather(void *result) const {
        CP_TAG(comm_, "allgather");
        for (std::int32_t level = levels_; level-- > 0;) {
            comm_.step();
            if (positions_.idle()) continue;
            const Parts held = kept(level);
            const Parts missing = given(level);
            comm_.exchange(comm_.at(result, offset(held)), size(held), partner(level),
                           comm_.at(result, offset(missing)), size(missing), partner(level));
        }
    }

    std::int32_t partner(std::int32_t level) const {
        return positions_.rank_at(Butterfly::partner(positions_.mine(), level, levels_));
    }
    Parts kept(std::int32_t level) const { return held_after(path_, level + 1, levels_); }
    Parts given(std::int32_t level) const { return held_after(path_ ^ (1U << level), level + 1, levels_); }
    std::size_t offset(Parts parts) const { return layout_.offset(parts.first); }
    std::size_t size(Parts parts) const { return layout_.offset(parts.last) - layout_.offset(parts.first); }

  private:
    const P2p &comm_;
    const Positions &positions_;
    Layout layout_;
    std::int32_t levels_;
    std::uint32_t path_;
};

// Reduce-scatter by halving, then all-gather by doubling: 2 log2 p steps and 2 (p - 1) / p n elements sent by each
// rank for powers of two.
template <class Butterfly>
void halving_allreduce(const P2p &comm, const Team &team, PartialSum &sum, void *result, std::size_t count) {
    const Positions positions(team);
    positions.fold(comm, sum, count);
    const Halving<Butterfly, Blocks> halving(comm, positions,
                                             Blocks{count, static_cast<std::size_t>(positions.count())});
    halving.reduce(sum);
    halving.gather(result);
    positions.unfold(comm, result, count);
}

inline std::int32_t halving_allreduce_steps(std::int32_t ranks) {
    const std::int32_t positions = largest_power_of_two(ranks);
    return 2 * ceil_log2(positions) + (positions == ranks ? 0 : 2);
}

} // namespace collpress

#endif
