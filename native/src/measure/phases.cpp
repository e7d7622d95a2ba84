#include "measure/phases.hpp"

#include "collpress/clock.hpp"
#include "measure/statistics.hpp"

#include <algorithm>
#include <cstring>

namespace collpress {

namespace {

using Parts = std::array<std::int64_t, part_names.size()>;

// One iteration's times by phase. Phases are known by name, in the order in which they first begin. Every iteration of
// a rank should have the same ones, for an algorithm looks at counts and ranks only; one that a plugin leaves out in
// some of them took no time there.
struct Account {
    struct Phase {
        const char *name;
        std::int64_t total = 0;
        Parts parts{};
    };
    std::vector<Phase> phases;

    Phase at(const char *name) const {
        const auto found =
            std::ranges::find_if(phases, [&](const Phase &one) { return std::strcmp(one.name, name) == 0; });
        return found == phases.end() ? Phase{name} : *found;
    }

    explicit Account(const std::vector<TagEvent> &events) {
        for (const TagEvent &event : events) {
            if (event.kind == TagKind::phase && event.parent == TagEvent::none) of(event.name).total += event.ns();
            if (event.kind == TagKind::phase || event.kind == TagKind::step) continue;
            const auto *part =
                std::ranges::find_if(part_names, [&](const char *name) { return std::strcmp(name, event.name) == 0; });
            Phase &phase = of(outermost(events, event));
            phase.parts[static_cast<std::size_t>(part - part_names.begin())] += event.ns();
            if (*phase.name == '\0') phase.total += event.ns();
        }
    }

  private:
    static const char *outermost(const std::vector<TagEvent> &events, const TagEvent &event) {
        const char *name = "";
        for (std::uint32_t at = event.parent; at != TagEvent::none; at = events[at].parent) {
            if (events[at].kind == TagKind::phase) name = events[at].name;
        }
        return name;
    }

    Phase &of(const char *name) {
        for (Phase &phase : phases) {
            if (std::strcmp(phase.name, name) == 0) return phase;
        }
        phases.push_back({name, 0, {}});
        return phases.back();
    }
};

double median_s(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return quantile(values, 0.5);
}

// `of(i)` is iteration i's time in ns.
template <typename Of>
double median_over(std::size_t iterations, Of &&of) {
    std::vector<double> values;
    for (std::size_t i = 0; i < iterations; ++i) values.push_back(static_cast<double>(of(i)) * 1e-9);
    return median_s(std::move(values));
}

std::vector<const char *> phase_names(const std::vector<Account> &accounts) {
    std::vector<const char *> names;
    for (const Account &account : accounts) {
        for (const Account::Phase &phase : account.phases) {
            if (std::ranges::none_of(names, [&](const char *name) { return std::strcmp(name, phase.name) == 0; }))
                names.push_back(phase.name);
        }
    }
    return names;
}

PhaseReport summary(const std::vector<TaggedRun> &runs, int rank) {
    std::vector<Account> accounts;
    for (const TaggedRun &run : runs) accounts.emplace_back(run.events);
    const std::size_t n = runs.size();
    const auto total = [&](std::size_t i) { return runs[i].end_ns - runs[i].begin_ns; };
    const auto part = [&](std::size_t i, std::size_t part) {
        std::int64_t sum = 0;
        for (const Account::Phase &phase : accounts[i].phases) sum += phase.parts[part];
        return sum;
    };
    PhaseReport report{n, rank, median_over(n, total), {}, 0, {}};
    for (std::size_t p = 0; p < part_names.size(); ++p)
        report.part_s[p] = median_over(n, [&](std::size_t i) { return part(i, p); });
    report.other_s = median_over(n, [&](std::size_t i) {
        std::int64_t rest = total(i);
        for (std::size_t p = 0; p < part_names.size(); ++p) rest -= part(i, p);
        return rest;
    });
    for (const char *name : phase_names(accounts)) {
        PhaseReport::Phase phase{name, 0, {}};
        phase.total_s = median_over(n, [&](std::size_t i) { return accounts[i].at(name).total; });
        for (std::size_t p = 0; p < part_names.size(); ++p)
            phase.part_s[p] = median_over(n, [&](std::size_t i) { return accounts[i].at(name).parts[p]; });
        report.phases.push_back(std::move(phase));
    }
    return report;
}

// The report of a rank, as text that rank 0 can read again: names may differ between ranks.
std::vector<double> numbers_of(const PhaseReport &report) {
    std::vector<double> numbers = {report.total_s, report.other_s};
    numbers.insert(numbers.end(), report.part_s.begin(), report.part_s.end());
    for (const PhaseReport::Phase &phase : report.phases) {
        numbers.push_back(phase.total_s);
        numbers.insert(numbers.end(), phase.part_s.begin(), phase.part_s.end());
    }
    return numbers;
}

std::string names_of(const PhaseReport &report) {
    std::string names;
    for (const PhaseReport::Phase &phase : report.phases) names += phase.name + '\n';
    return names;
}

PhaseReport put_together(std::size_t iterations, int rank, const std::string &names,
                         const std::vector<double> &numbers) {
    auto next = numbers.begin();
    PhaseReport report{iterations, rank, *next++, {}, *next++, {}};
    for (double &part : report.part_s) part = *next++;
    for (std::size_t at = 0; at < names.size();) {
        const std::size_t end = names.find('\n', at);
        PhaseReport::Phase phase{names.substr(at, end - at), *next++, {}};
        for (double &part : phase.part_s) part = *next++;
        report.phases.push_back(std::move(phase));
        at = end + 1;
    }
    return report;
}

// On rank 0, that of the rank whose total is largest.
std::optional<PhaseReport> slowest(MPI_Comm comm, const PhaseReport &own) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    struct {
        double total;
        int rank;
    } most{own.total_s, rank};
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    if (most.rank == 0) return rank == 0 ? std::optional(own) : std::nullopt;
    constexpr int tag = 0;
    std::vector<double> numbers = numbers_of(own);
    std::string names = names_of(own);
    std::int64_t lengths[] = {static_cast<std::int64_t>(numbers.size()), static_cast<std::int64_t>(names.size())};
    if (rank == most.rank) {
        MPI_Send(lengths, 2, MPI_INT64_T, 0, tag, comm);
        MPI_Send(numbers.data(), static_cast<int>(lengths[0]), MPI_DOUBLE, 0, tag, comm);
        MPI_Send(names.data(), static_cast<int>(lengths[1]), MPI_CHAR, 0, tag, comm);
    }
    if (rank != 0) return std::nullopt;
    MPI_Recv(lengths, 2, MPI_INT64_T, most.rank, tag, comm, MPI_STATUS_IGNORE);
    numbers.resize(static_cast<std::size_t>(lengths[0]));
    names.resize(static_cast<std::size_t>(lengths[1]));
    MPI_Recv(numbers.data(), static_cast<int>(lengths[0]), MPI_DOUBLE, most.rank, tag, comm, MPI_STATUS_IGNORE);
    MPI_Recv(names.data(), static_cast<int>(lengths[1]), MPI_CHAR, most.rank, tag, comm, MPI_STATUS_IGNORE);
    return put_together(own.iterations, most.rank, names, numbers);
}

} // namespace

TaggedRuns measure_phases(MPI_Comm comm, const Barrier &barrier, std::size_t iterations,
                          const std::function<void()> &prepare, const std::function<std::vector<TagEvent>()> &run) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    TaggedRuns runs;
    for (std::size_t i = 0; i < iterations; ++i) {
        prepare();
        barrier.wait();
        runs.own.push_back({0, 0, run()});
        // The algorithm's call is the scope around all that it did.
        runs.own.back().begin_ns = runs.own.back().events.front().begin;
        runs.own.back().end_ns = runs.own.back().events.front().end;
        runs.own.back().events.erase(runs.own.back().events.begin());
        for (TagEvent &event : runs.own.back().events)
            event.parent = event.parent == 0 || event.parent == TagEvent::none ? TagEvent::none : event.parent - 1;
    }
    runs.report = slowest(comm, summary(runs.own, rank));
    return runs;
}

} // namespace collpress
