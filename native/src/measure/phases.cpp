#include "measure/phases.hpp"

#include "measure/statistics.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace collpress {

std::optional<PhaseReport> measure_phases(MPI_Comm comm, const Barrier &barrier, std::size_t iterations,
                                          const std::function<void()> &prepare,
                                          const std::function<PhaseTimes()> &run) {
    constexpr std::size_t columns = phase_count + 2; // total, the phases, what no phase claims
    std::array<std::vector<double>, columns> values;
    for (std::size_t i = 0; i < iterations; ++i) {
        prepare();
        barrier.wait();
        const std::int64_t start = now_ns();
        const PhaseTimes times = run();
        const std::int64_t total = now_ns() - start;
        std::int64_t other = total;
        values[0].push_back(static_cast<double>(total) * 1e-9);
        for (std::size_t phase = 0; phase < phase_count; ++phase) {
            values[1 + phase].push_back(static_cast<double>(times.ns[phase]) * 1e-9);
            other -= times.ns[phase];
        }
        values[columns - 1].push_back(static_cast<double>(other) * 1e-9);
    }
    std::array<double, columns> medians;
    for (std::size_t column = 0; column < columns; ++column) {
        std::sort(values[column].begin(), values[column].end());
        medians[column] = quantile(values[column], 0.5);
    }

    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    std::vector<std::array<double, columns>> all(rank == 0 ? static_cast<std::size_t>(size) : 0);
    MPI_Gather(medians.data(), columns, MPI_DOUBLE, all.data(), columns, MPI_DOUBLE, 0, comm);
    if (rank != 0) return std::nullopt;
    const auto &slowest =
        *std::max_element(all.begin(), all.end(), [](const auto &a, const auto &b) { return a[0] < b[0]; });
    PhaseReport report{iterations, slowest[0], {}, slowest[columns - 1]};
    std::copy_n(slowest.begin() + 1, phase_count, report.phase_s.begin());
    return report;
}

} // namespace collpress
