#include "measure/global_clock.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <vector>

namespace collpress {

namespace {

constexpr int question = 1;
constexpr int reply = 2;

void pause(std::int64_t ns) {
    const timespec time{static_cast<std::time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    nanosleep(&time, nullptr);
}

} // namespace

std::int64_t ClockModel::global(std::int64_t local) const {
    return local - std::llround(slope * static_cast<double>(local - base) + intercept);
}

GlobalClock::GlobalClock(MPI_Comm comm, MPI_Comm shares_clock, LocalClock local, SyncEffort effort)
    : shares_clock_(shares_clock), comm_(comm), local_(std::move(local)), effort_(effort) {
    int rank = 0;
    int beside = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_rank(shares_clock, &beside);
    MPI_Comm_split(comm, beside == 0 ? 0 : MPI_UNDEFINED, rank, &leaders_);
    if (leaders_ != MPI_COMM_NULL) {
        MPI_Comm_rank(leaders_, &leaders_rank_);
        MPI_Comm_size(leaders_, &leaders_size_);
    }
    MPI_Bcast(&leaders_size_, 1, MPI_INT, 0, shares_clock_);
}

GlobalClock::~GlobalClock() {
    if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
}

// How far this clock is ahead of the parent's global one. The parent looks at its clock after our question left and
// before its reply came: that is one bound from above and one from below each time.
double GlobalClock::offset_to(int parent) const {
    std::int64_t low = std::numeric_limits<std::int64_t>::min();
    std::int64_t high = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < effort_.exchanges; ++i) {
        std::int64_t theirs = 0;
        const std::int64_t before = local_();
        MPI_Send(nullptr, 0, MPI_BYTE, parent, question, leaders_);
        MPI_Recv(&theirs, 1, MPI_INT64_T, parent, reply, leaders_, MPI_STATUS_IGNORE);
        const std::int64_t after = local_();
        low = std::max(low, before - theirs);
        high = std::min(high, after - theirs);
    }
    return static_cast<double>(low) + static_cast<double>(high - low) / 2;
}

void GlobalClock::answer(int child, std::size_t questions) const {
    for (std::size_t i = 0; i < questions; ++i) {
        MPI_Recv(nullptr, 0, MPI_BYTE, child, question, leaders_, MPI_STATUS_IGNORE);
        const std::int64_t mine = now();
        MPI_Send(&mine, 1, MPI_INT64_T, child, reply, leaders_);
    }
}

// Least squares through offsets over local time, both counted from the first point: they are large against what is
// wanted.
ClockModel GlobalClock::learn(int parent) const {
    std::vector<double> x;
    std::vector<double> y;
    std::int64_t base = 0;
    double first = 0;
    for (std::size_t i = 0; i < effort_.fit_points; ++i) {
        if (i != 0) pause(effort_.pause_ns);
        const double offset = offset_to(parent);
        const std::int64_t at = local_();
        if (i == 0) {
            base = at;
            first = offset;
        }
        x.push_back(static_cast<double>(at - base));
        y.push_back(offset - first);
    }
    const auto n = static_cast<double>(x.size());
    double mean_x = 0;
    double mean_y = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        mean_x += x[i] / n;
        mean_y += y[i] / n;
    }
    double xx = 0;
    double xy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    const double slope = xx == 0 ? 0 : xy / xx;
    return {base, slope, first + mean_y - slope * mean_x};
}

void GlobalClock::pair(int parent, int child) {
    if (leaders_rank_ == parent) answer(child, effort_.fit_points * effort_.exchanges);
    if (leaders_rank_ == child) model_ = learn(parent);
}

void GlobalClock::synchronise() {
    model_ = {};
    if (leaders_ != MPI_COMM_NULL) {
        int power = 1;
        while (power <= leaders_size_ / 2) power *= 2;
        for (int distance = power / 2; distance > 0; distance /= 2) {
            if (leaders_rank_ >= power) continue;
            const int place = leaders_rank_ % (2 * distance);
            if (place == 0) pair(leaders_rank_, leaders_rank_ + distance);
            if (place == distance) pair(leaders_rank_ - distance, leaders_rank_);
        }
        if (leaders_rank_ >= power) pair(leaders_rank_ - power, leaders_rank_);
        if (leaders_rank_ < leaders_size_ - power) pair(leaders_rank_, leaders_rank_ + power);
    }
    MPI_Bcast(&model_, sizeof model_, MPI_BYTE, 0, shares_clock_);
}

double GlobalClock::residual() const {
    double largest = 0;
    if (leaders_ != MPI_COMM_NULL) {
        for (int child = 1; child < leaders_size_; ++child) {
            if (leaders_rank_ == 0) answer(child, effort_.exchanges);
            if (leaders_rank_ != child) continue;
            const std::int64_t before = local_();
            const double ahead = offset_to(0); // of the local clock
            const std::int64_t at = before + (local_() - before) / 2;
            largest = std::fabs(ahead - static_cast<double>(at - model_.global(at)));
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, comm_);
    return largest;
}

} // namespace collpress
