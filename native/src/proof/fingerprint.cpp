#include "proof/fingerprint.hpp"

#include "collpress/p2p.hpp"

#include <algorithm>
#include <set>

namespace collpress {

namespace {

// An MPI_User_function has no other place to leave anything.
std::multiset<std::string> &steps_seen() {
    static std::multiset<std::string> steps;
    return steps;
}

void unite(void *inout, const void *in, std::size_t count) {
    const auto *from = static_cast<const std::uint64_t *>(in);
    auto *to = static_cast<std::uint64_t *>(inout);
    if (count == 0) return;
    const auto [low, high] = std::minmax(from[0], to[0]);
    steps_seen().insert(std::to_string(count) + ":" + std::to_string(low) + "|" + std::to_string(high));
    for (std::size_t i = 0; i < count; ++i) to[i] |= from[i];
}

void unite_for_mpi(void *in, void *inout, int *count, MPI_Datatype *) {
    unite(inout, in, static_cast<std::size_t>(*count));
}

} // namespace

Fingerprint::Fingerprint(const Exchange &exchange, int rank)
    : exchange_(exchange), send_(exchange.count() + 1, std::uint64_t{1} << static_cast<unsigned>(rank)),
      recv_(exchange.count() + 1) {
    const Blocks blocks{exchange.count(), exchange.ranks()};
    for (std::size_t peer = 0; peer < exchange.ranks(); ++peer)
        block_counts_.push_back(static_cast<int>(blocks.size(peer)));
    MPI_Op_create(unite_for_mpi, 1, &op_);
}

Fingerprint::~Fingerprint() { MPI_Op_free(&op_); }

int Fingerprint::of_library(MPI_Comm comm) {
    steps_seen().clear();
    const int count = static_cast<int>(exchange_.count());
    const int root = static_cast<int>(exchange_.root());
    if (exchange_.collective() == Collective::allreduce)
        return MPI_Allreduce(send_.data(), recv_.data(), count, MPI_UINT64_T, op_, comm);
    if (exchange_.collective() == Collective::reduce)
        return MPI_Reduce(send_.data(), recv_.data(), count, MPI_UINT64_T, op_, root, comm);
    return MPI_Reduce_scatter(send_.data(), recv_.data(), block_counts_.data(), MPI_UINT64_T, op_, comm);
}

void Fingerprint::of_algorithm(MpiP2p &p2p, const collpress_algorithm &algorithm, const ScheduledCall &how) {
    steps_seen().clear();
    p2p.configure({sizeof(std::uint64_t), unite, COLLPRESS_SUM, nullptr});
    p2p.run(algorithm, {send_.data(), recv_.data(), exchange_.count(), COLLPRESS_INT64, COLLPRESS_SUM,
                        static_cast<std::int32_t>(exchange_.root()), nullptr, how.segment_elements, how.fanout});
}

std::string Fingerprint::text() {
    std::string all;
    for (const std::string &step : steps_seen()) all += step + " ";
    return all;
}

} // namespace collpress
