#include "measure/noise.hpp"

#include "collpress/clock.hpp"

#include <array>
#include <cstdio>
#include <memory>

namespace collpress {

namespace {

constexpr double shortest_for_ticks_s = 0.1; // ten ticks of the slowest usual kernel

struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

double share(std::optional<std::int64_t> before, std::optional<std::int64_t> after, double whole) {
    if (!before.has_value() || !after.has_value() || whole <= 0) return -1;
    return static_cast<double>(*after - *before) / whole;
}

std::optional<double> known(double value) { return value < 0 ? std::nullopt : std::optional(value); }

} // namespace

NoiseCounters noise_counters() {
    NoiseCounters counters;
    counters.at_ns = now_ns();
    long long value = 0;
    const File pressure(std::fopen("/proc/pressure/cpu", "re"));
    if (pressure != nullptr &&
        std::fscanf(pressure.get(), "some avg10=%*f avg60=%*f avg300=%*f total=%lld", &value) == 1)
        counters.stalled_us = value;
    if (const File file(std::fopen("/proc/stat", "re")); file != nullptr) {
        std::array<long long, 8> ticks{}; // user nice system idle iowait irq softirq steal
        if (std::fscanf(file.get(), "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &ticks[0], &ticks[1], &ticks[2],
                        &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]) == 8) {
            counters.stolen_ticks = ticks[7];
            counters.all_cpu_ticks = 0;
            for (const long long one : ticks) *counters.all_cpu_ticks += one;
        }
    }
    return counters;
}

NoiseReport judge_noise(MPI_Comm comm, const NoiseCounters &before, const NoiseCounters &after, double preemptions,
                        bool precise) {
    const double span_s = static_cast<double>(after.at_ns - before.at_ns) * 1e-9;
    std::array<double, 2> shares = {share(before.stalled_us, after.stalled_us, span_s * 1e6), -1};
    if (span_s >= shortest_for_ticks_s && before.all_cpu_ticks.has_value() && after.all_cpu_ticks.has_value()) {
        shares[1] = share(before.stolen_ticks, after.stolen_ticks,
                          static_cast<double>(*after.all_cpu_ticks - *before.all_cpu_ticks));
    }
    MPI_Allreduce(MPI_IN_PLACE, shares.data(), 2, MPI_DOUBLE, MPI_MAX, comm);
    NoiseReport report{known(shares[0]), known(shares[1]), preemptions, {}};
    if (!precise) report.reasons.emplace_back("precision");
    if (shares[0] > most_pressure) report.reasons.emplace_back("pressure");
    if (shares[1] > most_steal) report.reasons.emplace_back("steal");
    if (preemptions > most_preemptions) report.reasons.emplace_back("preemption");
    return report;
}

} // namespace collpress
