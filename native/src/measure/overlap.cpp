#include "measure/overlap.hpp"

#include "collpress/clock.hpp"
#include "measure/statistics.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace collpress {

namespace {

// Arithmetic that neither memory nor the library has a part in.
class Computation {
  public:
    void run(std::uint64_t rounds) {
        for (std::uint64_t i = 0; i < rounds; ++i) {
            for (double &value : values_) value = value * 0.999999 + 1e-6;
        }
        sink_ = values_[0];
    }

    // Rounds that take `seconds` on this rank: the fastest of a few trials, each long against the clock's reading.
    std::uint64_t rounds_for(double seconds) {
        constexpr std::uint64_t trial = 2000;
        std::int64_t fastest = std::int64_t{1} << 62;
        for (int i = 0; i < 20; ++i) {
            const std::int64_t start = now_ns();
            run(trial);
            fastest = std::min(fastest, now_ns() - start);
        }
        const double round_s = static_cast<double>(std::max<std::int64_t>(fastest, 1)) * 1e-9 / trial;
        return static_cast<std::uint64_t>(std::max(seconds / round_s, 1.0));
    }

  private:
    std::array<double, 8> values_{1, 2, 3, 4, 5, 6, 7, 8};
    volatile double sink_ = 0; // the results are needed
};

} // namespace

double OverlapReport::omb_percent() const { return std::max(0.0, 100 * (1 - (overlapped_s - compute_s) / pure_s)); }

double OverlapReport::imb_percent() const {
    return 100 * std::clamp((pure_s + compute_s - overlapped_s) / std::max(pure_s, compute_s), 0.0, 1.0);
}

std::optional<OverlapReport> measure_overlap(MPI_Comm comm, const Barrier &barrier, std::size_t iterations,
                                             double pure_estimate_s, const std::function<void()> &prepare,
                                             const std::function<void(const std::function<void()> &)> &run) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    Computation computation;
    MPI_Bcast(&pure_estimate_s, 1, MPI_DOUBLE, 0, comm);
    const std::uint64_t rounds = computation.rounds_for(pure_estimate_s);
    const std::function<void()> compute = [&] { computation.run(rounds); };
    const std::function<void()> nothing = [] {};
    // Alternating, so that what drifts, drifts for all three.
    std::array<std::vector<double>, 3> slowest;
    for (std::size_t i = 0; i < iterations; ++i) {
        for (std::size_t kind = 0; kind < slowest.size(); ++kind) {
            prepare();
            barrier.wait();
            const std::int64_t start = now_ns();
            if (kind == 0)
                run(nothing);
            else if (kind == 1)
                compute();
            else
                run(compute);
            const double own = static_cast<double>(now_ns() - start) * 1e-9;
            double most = 0;
            MPI_Reduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
            slowest[kind].push_back(most);
        }
    }
    if (rank != 0) return std::nullopt;
    for (std::vector<double> &times : slowest) std::sort(times.begin(), times.end());
    return OverlapReport{iterations, quantile(slowest[0], 0.5), quantile(slowest[1], 0.5), quantile(slowest[2], 0.5)};
}

} // namespace collpress
