#include "measure/timing.hpp"

#include "collpress/clock.hpp"
#include "measure/statistics.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace collpress {

namespace {

enum class Stop : int { not_yet, precision, max_iterations, time };

constexpr std::size_t smallest_batch = 10;
constexpr std::size_t largest_batch = 1000;

const char *stop_name(Stop stop) {
    switch (stop) {
    case Stop::precision:
        return "precision";
    case Stop::max_iterations:
        return "max_iterations";
    case Stop::time:
        return "time";
    case Stop::not_yet:
        return nullptr;
    }
    return nullptr;
}

struct Decision {
    std::int64_t iterations; // of the next batch
    std::int64_t stop;
};

// Iterations that still fit before the deadline.
std::size_t fitting(const TimingLimits &limits, double iteration_s) {
    const double left_s = static_cast<double>(limits.deadline_ns - now_ns()) * 1e-9;
    if (left_s <= 0) return 0;
    if (iteration_s <= 0) return largest_batch;
    return static_cast<std::size_t>(std::min(left_s / iteration_s, 1e9));
}

Decision first_batch(const TimingLimits &limits) {
    const std::size_t least = std::min<std::size_t>(3, limits.min_iterations);
    const std::size_t most = std::min(limits.min_iterations, largest_batch);
    return {static_cast<std::int64_t>(std::clamp(fitting(limits, limits.estimate_s), least, most)), 0};
}

Decision next_batch(const TimingLimits &limits, const Timings &timings, double iteration_s) {
    const std::size_t n = timings.slowest_s.size();
    const auto stop = [](Stop reason) { return Decision{0, static_cast<std::int64_t>(reason)}; };
    if (n >= limits.min_iterations && timings.precise && now_ns() >= limits.earliest_ns) return stop(Stop::precision);
    if (n >= limits.max_iterations) return stop(Stop::max_iterations);
    const std::size_t fit = fitting(limits, iteration_s);
    if (fit == 0) return stop(Stop::time);
    const std::size_t wanted = std::clamp(n, smallest_batch, largest_batch);
    return {static_cast<std::int64_t>(std::min({wanted, limits.max_iterations - n, fit})), 0};
}

// Appends the iterations that count on all ranks.
class Batch {
  public:
    Batch(MPI_Comm comm, Start &start, std::size_t iterations)
        : comm_(comm), start_(start), begin_ns_(iterations), end_ns_(iterations), late_(iterations) {}

    void run(Operation &operation) {
        const InUse in_use(operation);
        for (std::size_t i = 0; i < late_.size(); ++i) {
            operation.prepare(i + 1 == late_.size());
            const bool in_time = start_.wait();
            begin_ns_[i] = now_ns();
            operation.run();
            end_ns_[i] = now_ns();
            late_[i] = in_time ? 0 : 1;
        }
    }

    void gather(bool root, Timings &timings) {
        const GlobalClock *clock = start_.clock();
        if (clock != nullptr) MPI_Allreduce(MPI_IN_PLACE, late_.data(), length(), MPI_CHAR, MPI_MAX, comm_);
        std::vector<std::int64_t> spent(late_.size());
        if (clock == nullptr) {
            for (std::size_t i = 0; i < spent.size(); ++i) spent[i] = end_ns_[i] - begin_ns_[i];
            spent = at_root(spent, MPI_MAX);
        } else {
            std::vector<std::int64_t> begins(late_.size());
            for (std::size_t i = 0; i < spent.size(); ++i) {
                begins[i] = clock->global(begin_ns_[i]);
                spent[i] = clock->global(end_ns_[i]);
            }
            begins = at_root(begins, MPI_MIN);
            spent = at_root(spent, MPI_MAX);
            for (std::size_t i = 0; i < spent.size(); ++i) spent[i] -= begins[i];
        }
        for (std::size_t i = 0; i < late_.size(); ++i) {
            timings.late += late_[i] != 0 ? 1 : 0;
            if (late_[i] != 0) continue;
            timings.start_ns.push_back(begin_ns_[i]);
            timings.end_ns.push_back(end_ns_[i]);
            if (root) timings.slowest_s.push_back(static_cast<double>(spent[i]) * 1e-9);
        }
    }

    std::size_t late() const {
        return static_cast<std::size_t>(std::ranges::count_if(late_, [](char c) { return c; }));
    }

  private:
    int length() const { return static_cast<int>(late_.size()); }

    std::vector<std::int64_t> at_root(const std::vector<std::int64_t> &own, MPI_Op op) const {
        std::vector<std::int64_t> of_all(own.size());
        MPI_Reduce(own.data(), of_all.data(), length(), MPI_INT64_T, op, 0, comm_);
        return of_all;
    }

    MPI_Comm comm_;
    Start &start_;
    std::vector<std::int64_t> begin_ns_; // this rank's clock
    std::vector<std::int64_t> end_ns_;
    std::vector<char> late_; // on any rank, after gather()
};

// The same on all ranks. Nothing is said before so many iterations were run.
Verdict judge_starts(const Timings &timings, std::size_t enough_to_judge) {
    const std::size_t all = timings.late + timings.start_ns.size();
    if (all < enough_to_judge || 2 * timings.late <= all) return {};
    return {Status::failed, "sync window: in " + std::to_string(timings.late) + " of " + std::to_string(all) +
                                " iterations a rank could not start at the agreed moment"};
}

} // namespace

Timings time_iterations(MPI_Comm comm, Start &start, Operation &operation, const TimingLimits &limits) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    Timings timings;
    Decision decision{};
    if (rank == 0) decision = first_batch(limits);
    while (true) {
        MPI_Bcast(&decision, 2, MPI_INT64_T, 0, comm);
        timings.stop_reason = stop_name(static_cast<Stop>(decision.stop));
        if (timings.stop_reason != nullptr) {
            timings.verdict = judge_starts(timings, 1);
            break;
        }
        const auto iterations = static_cast<std::size_t>(decision.iterations);
        const std::int64_t began = now_ns();
        Batch batch(comm, start, iterations);
        batch.run(operation);
        const double iteration_s = static_cast<double>(now_ns() - began) * 1e-9 / static_cast<double>(iterations);
        batch.gather(rank == 0, timings);
        if (2 * batch.late() > iterations) start.relax();
        timings.verdict = agree(comm, operation.verdict());
        if (timings.verdict.ok()) timings.verdict = judge_starts(timings, 20);
        if (!timings.verdict.ok()) break;
        if (rank == 0) {
            timings.precise = !timings.slowest_s.empty() && summarise(timings.slowest_s).reaches(limits.precision);
            decision = next_batch(limits, timings, iteration_s);
        }
    }
    return timings;
}

double mean_over_ranks(MPI_Comm comm, const Timings &timings) {
    double sum = 0;
    for (std::size_t i = 0; i < timings.start_ns.size(); ++i)
        sum += static_cast<double>(timings.end_ns[i] - timings.start_ns[i]);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    return sum * 1e-9 / (static_cast<double>(timings.start_ns.size()) * ranks);
}

double start_skew(MPI_Comm comm, const Timings &timings) {
    const auto n = static_cast<int>(timings.start_ns.size());
    std::vector<std::int64_t> first(timings.start_ns.size());
    std::vector<std::int64_t> last(timings.start_ns.size());
    MPI_Reduce(timings.start_ns.data(), first.data(), n, MPI_INT64_T, MPI_MIN, 0, comm);
    MPI_Reduce(timings.start_ns.data(), last.data(), n, MPI_INT64_T, MPI_MAX, 0, comm);
    std::vector<double> skew;
    for (std::size_t i = 0; i < first.size(); ++i) skew.push_back(static_cast<double>(last[i] - first[i]) * 1e-9);
    std::sort(skew.begin(), skew.end());
    return quantile(skew, 0.5);
}

Usage usage_of_all(MPI_Comm comm, const Usage &before, const Usage &after) {
    std::int64_t rss = after.max_rss_bytes;
    std::array<std::int64_t, 2> switches = {after.voluntary_switches - before.voluntary_switches,
                                            after.involuntary_switches - before.involuntary_switches};
    MPI_Allreduce(MPI_IN_PLACE, &rss, 1, MPI_INT64_T, MPI_MAX, comm);
    MPI_Allreduce(MPI_IN_PLACE, switches.data(), 2, MPI_INT64_T, MPI_SUM, comm);
    return {rss, switches[0], switches[1]};
}

} // namespace collpress
