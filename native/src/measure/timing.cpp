#include "measure/timing.hpp"

#include "collpress/clock.hpp"
#include "measure/statistics.hpp"

#include <algorithm>

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
    if (n >= limits.min_iterations && timings.precise) return stop(Stop::precision);
    if (n >= limits.max_iterations) return stop(Stop::max_iterations);
    const std::size_t fit = fitting(limits, iteration_s);
    if (fit == 0) return stop(Stop::time);
    const std::size_t wanted = std::clamp(n, smallest_batch, largest_batch);
    return {static_cast<std::int64_t>(std::min({wanted, limits.max_iterations - n, fit})), 0};
}

void run_batch(const Barrier &barrier, Operation &operation, Timings &timings, std::size_t iterations) {
    const std::size_t done = timings.start_ns.size();
    timings.start_ns.resize(done + iterations);
    timings.end_ns.resize(done + iterations);
    std::int64_t *start = timings.start_ns.data() + done;
    std::int64_t *end = timings.end_ns.data() + done;
    const InUse in_use(operation);
    for (std::size_t i = 0; i < iterations; ++i) {
        if (i + 1 == iterations) operation.poison();
        barrier.wait();
        start[i] = now_ns();
        operation.run();
        end[i] = now_ns();
    }
}

// Rank 0 learns the slowest rank's duration of each iteration of the last batch.
void gather_slowest(MPI_Comm comm, bool root, Timings &timings, std::size_t iterations) {
    const std::size_t first = timings.start_ns.size() - iterations;
    std::vector<std::int64_t> own(iterations);
    std::vector<std::int64_t> slowest(iterations);
    for (std::size_t i = 0; i < iterations; ++i) own[i] = timings.end_ns[first + i] - timings.start_ns[first + i];
    MPI_Reduce(own.data(), slowest.data(), static_cast<int>(iterations), MPI_INT64_T, MPI_MAX, 0, comm);
    if (!root) return;
    for (const std::int64_t ns : slowest) timings.slowest_s.push_back(static_cast<double>(ns) * 1e-9);
}

} // namespace

Timings time_iterations(MPI_Comm comm, const Barrier &barrier, Operation &operation, const TimingLimits &limits) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    Timings timings;
    Decision decision{};
    if (rank == 0) decision = first_batch(limits);
    while (true) {
        MPI_Bcast(&decision, 2, MPI_INT64_T, 0, comm);
        timings.stop_reason = stop_name(static_cast<Stop>(decision.stop));
        if (timings.stop_reason != nullptr) break;
        const auto iterations = static_cast<std::size_t>(decision.iterations);
        const std::int64_t began = now_ns();
        run_batch(barrier, operation, timings, iterations);
        const double iteration_s = static_cast<double>(now_ns() - began) * 1e-9 / static_cast<double>(iterations);
        gather_slowest(comm, rank == 0, timings, iterations);
        timings.verdict = agree(comm, operation.verdict());
        if (!timings.verdict.ok()) break;
        if (rank == 0) {
            timings.precise = summarise(timings.slowest_s).reaches(limits.precision);
            decision = next_batch(limits, timings, iteration_s);
        }
    }
    return timings;
}

} // namespace collpress
