#include "core/launch.hpp"

#include "collpress/clock.hpp"
#include "core/journal.hpp"
#include "core/json.hpp"
#include "core/point.hpp"
#include "core/record.hpp"
#include "core/session.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>

#include <sched.h>

namespace collpress {

namespace {

// Splitmix64 (Steele, Lea, Flood 2014): small, and the same everywhere, unlike the distributions of <random>.
class Generator {
  public:
    explicit Generator(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31);
    }

    // Uniform below `limit`: values of the incomplete last interval are drawn again.
    std::uint64_t below(std::uint64_t limit) {
        const std::uint64_t rejected = (0 - limit) % limit;
        std::uint64_t value = next();
        while (value < rejected) value = next();
        return value % limit;
    }

  private:
    std::uint64_t state_;
};

// What every rank says about itself, gathered at rank 0.
template <typename T>
std::vector<T> gathered(const std::vector<T> &own, MPI_Datatype type, std::vector<int> &counts, MPI_Comm comm) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const auto length = static_cast<int>(own.size());
    counts.assign(static_cast<std::size_t>(size), 0);
    MPI_Gather(&length, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
    std::vector<int> offsets(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
    std::vector<T> all(static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0)));
    MPI_Gatherv(own.data(), length, type, all.data(), counts.data(), offsets.data(), type, 0, comm);
    return all;
}

std::vector<int> own_cpus() {
    std::vector<int> cpus;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
    return cpus;
}

double clock_overhead_s() {
    std::vector<std::int64_t> reads(1001);
    for (std::int64_t &read : reads) read = now_ns();
    std::vector<std::int64_t> gaps;
    for (std::size_t i = 1; i < reads.size(); ++i) gaps.push_back(reads[i] - reads[i - 1]);
    std::nth_element(gaps.begin(), gaps.begin() + 500, gaps.end());
    return static_cast<double>(gaps[500]) * 1e-9;
}

// Runnable tasks on this machine, or -1.
int runnable_tasks() {
    std::FILE *file = std::fopen("/proc/loadavg", "re");
    if (file == nullptr) return -1;
    int runnable = -1;
    if (std::fscanf(file, "%*f %*f %*f %d/", &runnable) != 1) runnable = -1;
    std::fclose(file);
    return runnable;
}

// Collective; the text matters on rank 0 only.
std::string launch_line(const Options &options, const std::vector<PlanPoint> &plan,
                        const std::vector<std::size_t> &order, MPI_Comm world) {
    std::array<char, MPI_MAX_PROCESSOR_NAME> name;
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    std::vector<int> name_lengths;
    std::vector<int> cpu_counts;
    const std::vector<char> names =
        gathered(std::vector<char>(name.data(), name.data() + length), MPI_CHAR, name_lengths, world);
    const std::vector<int> cpus = gathered(own_cpus(), MPI_INT, cpu_counts, world);

    Json json;
    json.begin_object()
        .member("kind", "launch")
        .member("schema", 1)
        .member("launch", options.launch)
        .member("attempt", options.attempt);
    json.member("utc", utc_now())
        .member("seed", options.seed)
        .member("ranks", options.ranks)
        .member("mpi_library", Library::version());
    json.key("hosts").begin_array();
    auto next_name = names.begin();
    for (const int characters : name_lengths) {
        json.value(std::string(next_name, next_name + characters));
        next_name += characters;
    }
    json.end_array().key("cpus").begin_array();
    auto next_cpu = cpus.begin();
    for (const int count : cpu_counts) {
        json.begin_array();
        for (int i = 0; i < count; ++i) json.value(*next_cpu++);
        json.end_array();
    }
    json.end_array()
        .key("clock")
        .begin_object()
        .member("name", clock_name)
        .member("resolution_s", clock_resolution_s());
    json.member("overhead_s", clock_overhead_s()).end_object();
    double load = 0;
    if (getloadavg(&load, 1) == 1)
        json.member("load_average", load);
    else
        json.member_null("load_average");
    const int runnable = runnable_tasks();
    if (runnable >= 0)
        json.member("runnable", runnable);
    else
        json.member_null("runnable");
    json.key("order").begin_array();
    for (const std::size_t i : order) json.value(plan[i].key);
    json.end_array().end_object();
    return json.text();
}

} // namespace

std::vector<std::size_t> shuffled(std::size_t n, std::uint64_t seed, std::uint64_t launch) {
    Generator generator(Generator(seed).next() ^ Generator(launch + 0x632BE59BD9B4E019U).next());
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[generator.below(i)]);
    return order;
}

void run_launch(const Options &options, const std::vector<PlanPoint> &plan, MPI_Comm world) {
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    std::unique_ptr<Journal> journal;
    if (rank == 0) journal = std::make_unique<Journal>(options.journal);
    Session session(world, options.samples, options.samples_mode, options.traces);
    const LaunchIdentity identity{options.launch, options.attempt};
    const std::vector<std::size_t> order =
        shuffled(plan.size(), options.seed, static_cast<std::uint64_t>(options.launch));
    const std::string opening = launch_line(options, plan, order, world);
    if (journal != nullptr) journal->append(opening);
    for (std::size_t i = 0; i < order.size(); ++i) {
        const PlanPoint &point = plan[order[i]];
        if (journal != nullptr) journal->append(mark_line("begin", identity, point.key));
        const std::int64_t start = now_ns();
        const PointReport report = measure_point(session, point);
        const double elapsed_s = static_cast<double>(now_ns() - start) * 1e-9;
        if (journal != nullptr) journal->append(record_line(identity, point, report, i, elapsed_s));
    }
    if (journal != nullptr) journal->append(mark_line("end", identity, ""));
}

} // namespace collpress
