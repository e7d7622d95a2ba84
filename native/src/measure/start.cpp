#include "measure/start.hpp"

#include "collpress/clock.hpp"

#include <algorithm>

#include <sched.h>

namespace collpress {

namespace {

constexpr int measured_broadcasts = 10;
constexpr std::int64_t synchronised_for_ns = 10'000'000'000; // drift over longer times is not a line

// CPUs that the ranks of this machine may use, all together.
int cpus_of_host(MPI_Comm host) {
    cpu_set_t own;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    cpu_set_t all;
    MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, host);
    return CPU_COUNT(&all);
}

} // namespace

WindowStart::WindowStart(MPI_Comm parent, MPI_Comm host) : clock_(parent, host, now_ns) {
    MPI_Comm_dup(parent, &comm_);
    MPI_Comm_rank(comm_, &rank_);
}

WindowStart::~WindowStart() { MPI_Comm_free(&comm_); }

void WindowStart::prepare() {
    ahead_ = 2;
    std::int64_t stale = synchronised_ns_ == 0 || now_ns() - synchronised_ns_ > synchronised_for_ns ? 1 : 0;
    MPI_Bcast(&stale, 1, MPI_INT64_T, 0, comm_);
    if (stale != 0) {
        clock_.synchronise();
        synchronised_ns_ = now_ns();
    }
    std::int64_t sum = 0;
    for (int i = 0; i < measured_broadcasts; ++i) {
        std::int64_t moment = 0;
        MPI_Barrier(comm_);
        const std::int64_t start = now_ns();
        MPI_Bcast(&moment, 1, MPI_INT64_T, 0, comm_);
        sum += now_ns() - start;
    }
    broadcast_ns_ = sum / measured_broadcasts;
    MPI_Allreduce(MPI_IN_PLACE, &broadcast_ns_, 1, MPI_INT64_T, MPI_MAX, comm_);
}

bool WindowStart::wait() {
    MPI_Barrier(comm_); // nobody is still in the iteration before
    std::int64_t moment = clock_.now() + ahead_ * broadcast_ns_;
    MPI_Bcast(&moment, 1, MPI_INT64_T, 0, comm_);
    if (clock_.now() >= moment) return false;
    while (clock_.now() < moment) {
    }
    return true;
}

Start &Starts::of(Sync sync) {
    std::unique_ptr<Start> &start = starts_[static_cast<std::size_t>(sync)];
    if (start != nullptr) return *start;
    switch (sync) {
    case Sync::dissemination:
        start = std::make_unique<DisseminationStart>(barrier_);
        break;
    case Sync::barrier:
        start = std::make_unique<BarrierStart>(world_);
        break;
    case Sync::window:
        start = std::make_unique<WindowStart>(world_, host_);
        break;
    case Sync::none:
        start = std::make_unique<NoStart>();
        break;
    }
    return *start;
}

std::string Starts::refusal(Sync sync) const {
    if (sync != Sync::window) return {};
    int size = 0;
    MPI_Comm_size(host_, &size);
    const int missing = size - cpus_of_host(host_);
    int most = 0;
    MPI_Allreduce(&missing, &most, 1, MPI_INT, MPI_MAX, world_);
    if (most <= 0) return {};
    return "sync window needs a CPU for each rank, for they wait for the moment by looking at the clock: " +
           std::to_string(most) + " too few on a machine";
}

} // namespace collpress
