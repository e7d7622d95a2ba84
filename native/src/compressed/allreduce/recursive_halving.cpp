// Rabenseifner's allreduce with compression: reduce-scatter by halving, where each exchange is compressed anew, and
// all-gather by doubling, where each part is compressed once by its owner and travels as that stream.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.5. Compression for each exchange as in
// J. Huang et al.: gZCCL: Compression-Accelerated Collective Communication Framework for GPU Clusters. ICS 2024,
// doi:10.1145/3650200.3656636. Owners take what their stream decompresses to: all ranks end with the same bits.
#include "collpress/butterfly.hpp"
#include "collpress/packed_streams.hpp"

#include <algorithm>
#include <vector>

namespace {

using collpress::Blocks;
using collpress::P2p;
using collpress::PackedStreams;
using collpress::PairedRanks;
using collpress::Positions;
using collpress::StreamedSum;

// Position i ends with part i. Streams are kept in the order in which they come: the j-th is of part i XOR j.
class Gathering {
  public:
    Gathering(const P2p &comm, const Positions &positions, const Blocks &parts, void *recv)
        : comm_(comm), positions_(positions), parts_(parts), recv_(recv),
          streams_(comm, static_cast<std::size_t>(positions.count()), parts.largest()) {}

    void by_doubling() {
        const auto part = static_cast<std::size_t>(positions_.mine());
        for (std::int32_t distance = 1; distance < positions_.count(); distance *= 2) {
            comm_.step();
            if (positions_.idle()) continue;
            if (distance == 1) streams_.compress(comm_.at(recv_, parts_.offset(part)), parts_.size(part));
            const std::int32_t partner = positions_.rank_at(positions_.mine() ^ distance);
            const auto held = static_cast<std::size_t>(distance);
            streams_.receive(held, partner);
            streams_.send(0, held, partner);
            streams_.expect();
            unpack(held / 2, held); // what came last, while more is on its way
            streams_.arrive();
            streams_.complete();
        }
        if (!positions_.idle()) unpack(streams_.count() / 2, streams_.count());
    }
    // Surplus ranks get all streams as they are.
    void unfold(const collpress::Team &team) {
        if (!positions_.any_surplus()) return;
        CP_TAG(comm_, "unfold");
        comm_.step();
        if (!PairedRanks(team.size()).in_pair(team.mine())) return;
        const std::int32_t neighbour = team.rank_at(team.mine() ^ 1);
        const auto all = static_cast<std::size_t>(positions_.count());
        if (positions_.idle()) {
            streams_.receive(all, neighbour);
            streams_.expect();
            streams_.arrive();
            unpack(0, all);
        } else {
            streams_.send(0, all, neighbour);
            streams_.complete();
        }
    }

  private:
    void unpack(std::size_t first, std::size_t last) const {
        for (std::size_t index = first; index < last; ++index) {
            const std::size_t part = static_cast<std::size_t>(positions_.mine()) ^ index;
            streams_.decompress(index, comm_.at(recv_, parts_.offset(part)), parts_.size(part));
        }
    }

    const P2p &comm_;
    const Positions &positions_;
    Blocks parts_;
    void *recv_;
    PackedStreams streams_;
};

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const void *own = collpress::contribution_of(*call);
    const std::size_t count = call->count;
    if (comm.size() == 1 || count == 0) {
        if (own != call->recv) comm.copy(call->recv, own, count);
        return;
    }
    const collpress::Team team(comm);
    const Positions positions(team);
    const Blocks parts{count, static_cast<std::size_t>(positions.count())};
    StreamedSum sum(comm, own, call->recv, collpress::compressed_segment(*call), count);
    if (positions.any_surplus()) {
        CP_TAG(comm, "fold");
        comm.step();
        const std::int32_t neighbour = team.rank_at(team.mine() ^ 1);
        if (positions.idle())
            sum.send(0, count, neighbour);
        else if (PairedRanks(team.size()).in_pair(team.mine()))
            sum.receive_and_add(0, count, neighbour);
    }
    {
        CP_TAG(comm, "reduce-scatter");
        const collpress::Halving<collpress::FarthestFirst, Blocks> halving(comm, positions, parts);
        for (std::int32_t level = 0; level < halving.levels(); ++level) {
            comm.step();
            if (positions.idle()) continue;
            const std::int32_t partner = halving.partner(level);
            const collpress::Parts kept = halving.kept(level);
            const collpress::Parts given = halving.given(level);
            sum.exchange(halving.offset(given), halving.size(given), partner, halving.offset(kept), halving.size(kept),
                         partner);
        }
    }
    Gathering gathering(comm, positions, parts, call->recv);
    {
        CP_TAG(comm, "allgather");
        gathering.by_doubling();
    }
    gathering.unfold(team);
}

// Of a part's p contributions, all but those of the P = 2^floor(log2 p) positions are compressed when they are folded;
// in exchange l of log2 P there are P / 2^(l+1) partial sums, each of at most c·2^l contributions (c = 2 with folding),
// that are compressed on their way to the owner; and the sum once more. That is p compressions: p·eb for a codec
// bounded by eb. A maximum passes on the error of its own way only.
double error_bound(std::int32_t ranks, std::uint32_t op, double max_abs, collpress_worst_error worst_error,
                   const void *codec_context) {
    if (ranks < 2) return 0;
    const collpress::AddedError added(op, max_abs, worst_error, codec_context);
    const PairedRanks places(ranks);
    const double folded = places.any_surplus() ? added(1, 0) : 0;
    double partial = folded; // the largest error of a partial sum
    double total = added.is_sum() ? (ranks - places.positions()) * folded : folded;
    double contributions = places.any_surplus() ? 2 : 1;
    for (std::int32_t left = places.positions() / 2; left > 0; left /= 2) {
        const double one = added(contributions, partial);
        total += added.is_sum() ? left * one : one;
        partial = added.together(2, partial) + one;
        contributions *= 2;
    }
    return total + added(ranks, total);
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("allreduce", run, error_bound, {.in_place = true},
                             "Rabenseifner: halving, compressed in each exchange, and doubling of streams")
