// What else went on while a point was timed: does anything say that its times are not its own?
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

namespace collpress {

// What the system counts; nothing where it does not.
struct NoiseCounters {
    std::int64_t at_ns = 0;
    std::optional<std::int64_t> stalled_us;    // some task waited for a CPU (Linux pressure stall information)
    std::optional<std::int64_t> stolen_ticks;  // the hypervisor ran somebody else
    std::optional<std::int64_t> all_cpu_ticks; // of all states
};
NoiseCounters noise_counters();

struct NoiseReport {
    // Shares of the time, of the machine where it is largest; none where the system does not count, or where the
    // timing was too short for its clock ticks.
    std::optional<double> cpu_pressure;
    std::optional<double> steal;
    double preemptions = 0;           // involuntary context switches for each rank and iteration
    std::vector<std::string> reasons; // why the times are called noisy: precision, pressure, steal, preemption
};

inline constexpr double most_pressure = 0.05;
inline constexpr double most_steal = 0.01;
inline constexpr double most_preemptions = 0.05;

// Collective; the same on every rank. `preemptions` as above.
NoiseReport judge_noise(MPI_Comm comm, const NoiseCounters &before, const NoiseCounters &after, double preemptions,
                        bool precise);

} // namespace collpress
