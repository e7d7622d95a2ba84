#include "proof/prover.hpp"

#include "backends/mpi/library_call.hpp"
#include "core/journal.hpp"
#include "core/json.hpp"
#include "p2p/schedule.hpp"
#include "proof/correspondence.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

namespace collpress {

namespace {

// Elements that all ranks' vectors of a schedule may have together: they lie in one process.
constexpr std::size_t most_scheduled = std::size_t{1} << 26;

std::size_t elements_of(std::size_t bytes, std::size_t element) { return std::max<std::size_t>(bytes / element, 1); }

} // namespace

Prover::Prover(MPI_Comm world, std::string references)
    : world_(world), references_(std::move(references)), library_(world), p2p_(world), counters_(world) {
    MPI_Comm_rank(world, &rank_);
    MPI_Comm_size(world, &size_);
}

const char *Prover::evidence(const PlanPoint &point) const {
    if (counters_.exist()) return "traffic";
    return reduces(point.collective) && static_cast<std::size_t>(size_) <= Fingerprint::most_ranks ? "fingerprint" : "";
}

CallShape Prover::shape(const PlanPoint &point) const {
    return {point.count(), point.message_bytes, static_cast<std::size_t>(size_), point.in_place};
}

// Those of the point, as far as this algorithm heeds them.
LibrarySettings Prover::settings(const PlanPoint &point, const LibraryAlgorithm &algorithm) const {
    LibrarySettings settings;
    if (algorithm.segments) settings.segment_bytes = point.segment_bytes;
    if (point.fanout.has_value() && algorithm.least_fanout != 0)
        settings.fanout = static_cast<std::size_t>(*point.fanout);
    return settings;
}

void Prover::agree_on(int error, const LibraryChoice &choice, const PlanPoint &point) const {
    const Verdict mine = error == MPI_SUCCESS ? Verdict{} : library_.judge(error, choice, shape(point));
    const Verdict verdict = agree(world_, mine);
    if (!verdict.ok()) throw PointError(verdict.status, verdict.reason);
}

std::string Prover::gathered(const std::string &text) const {
    std::vector<int> lengths(static_cast<std::size_t>(size_));
    const int length = static_cast<int>(text.size());
    MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, world_);
    std::vector<int> offsets;
    int all = 0;
    for (const int one : lengths) offsets.push_back(std::exchange(all, all + one));
    std::string together(static_cast<std::size_t>(rank_ == 0 ? all : 0), ' ');
    MPI_Gatherv(text.data(), length, MPI_CHAR, together.data(), lengths.data(), offsets.data(), MPI_CHAR, 0, world_);
    return together;
}

std::string Prover::seen_traffic(const Exchange &exchange, const PlanPoint &point, const LibraryChoice &choice) {
    const auto rank = static_cast<std::size_t>(rank_);
    std::vector<std::byte> send((exchange.contribution(rank) + 1) * point.dtype.bytes);
    std::vector<std::byte> recv((exchange.recv_elements(rank, point.in_place) + 1) * point.dtype.bytes);
    const collpress_call call{exchange.sends(rank, point.in_place) ? send.data() : nullptr,
                              recv.data(),
                              exchange.count(),
                              static_cast<std::uint32_t>(point.dtype.id),
                              static_cast<std::uint32_t>(point.op),
                              static_cast<std::int32_t>(exchange.root()),
                              exchange.counts().empty() ? nullptr : exchange.counts().data(),
                              0,
                              0};
    const LibraryCall library_call(exchange, call, rank_, choice.comm);
    library_.engage(choice);
    // The first call of a choice may set up communicators of its own.
    int error = set_up_.insert(&choice).second ? library_call.run() : MPI_SUCCESS;
    const SentRow before = counters_.read();
    if (error == MPI_SUCCESS) error = library_call.run();
    const SentRow after = counters_.read();
    library_.release();
    agree_on(error, choice, point);
    const std::vector<SentRow> rows = gathered_rows(before, after, world_);
    Verdict verdict;
    if (rank_ == 0 && is_silent(rows)) {
        verdict = {Status::unsupported,
                   "no message was counted: nothing is sent, or a component runs that goes through "
                   "shared memory"};
    }
    verdict = agree(world_, verdict);
    if (!verdict.ok()) throw PointError(verdict.status, verdict.reason);
    return traffic_text(exchange.collective(), rows);
}

std::string Prover::seen_fingerprint(const Exchange &exchange, const LibraryChoice &choice) {
    Fingerprint fingerprint(exchange, rank_);
    library_.engage(choice);
    const int error = fingerprint.of_library(choice.comm);
    library_.release();
    Verdict verdict;
    if (error != MPI_SUCCESS) {
        verdict = {Status::unsupported,
                   "the library does not run " + choice.algorithm.name +
                       " with an operation of a user's, and without one nothing of it can be seen"};
    }
    verdict = agree(world_, verdict);
    if (!verdict.ok()) throw PointError(verdict.status, verdict.reason);
    return gathered(Fingerprint::text() + "\n");
}

std::string Prover::seen(const PlanPoint &point, const std::string &algorithm) {
    const Exchange exchange = point.exchange(static_cast<std::size_t>(size_));
    const std::string refusal = LibraryCall::refusal(exchange, point.dtype.id, point.op);
    if (!refusal.empty()) throw PointError(Status::unsupported, refusal);
    const auto &offered = library_.algorithms(point.collective);
    const auto found = std::ranges::find(offered, algorithm, &LibraryAlgorithm::name);
    const LibraryChoice &choice = library_.choose(point.collective, algorithm,
                                                  found == offered.end() ? LibrarySettings{} : settings(point, *found));
    const std::string abort = Library::refusal(choice, shape(point));
    if (!abort.empty()) throw PointError(Status::unsupported, abort);
    if (std::string(evidence(point)) == "traffic") return seen_traffic(exchange, point, choice);
    return seen_fingerprint(exchange, choice);
}

// Collective where it is by fingerprint; else rank 0 alone makes the schedules.
std::set<std::string> Prover::looks_of_schedules(const PlanPoint &point, const LibraryAlgorithm &algorithm) {
    std::set<std::string> looks;
    const bool traffic = std::string(evidence(point)) == "traffic";
    const Exchange exchange = point.exchange(static_cast<std::size_t>(size_));
    if (references_.empty() || (traffic && rank_ != 0)) return looks;
    if (exchange.count() * exchange.ranks() * exchange.ranks() > most_scheduled) return looks;
    for (const std::string &name : our_names(point.collective, algorithm.name)) {
        const std::filesystem::path path =
            std::filesystem::path(references_) / name_of(point.collective) / (name + ".so");
        if (!std::filesystem::exists(path)) continue;
        const collpress_algorithm *ours = plugins_.load(path.string()).algorithm();
        if (ours == nullptr) continue;
        ScheduledCall call{point.collective,
                           size_,
                           exchange.count(),
                           static_cast<std::int32_t>(exchange.root()),
                           point.in_place,
                           0,
                           0,
                           0,
                           point.imbalance,
                           point.imbalance_seed};
        // In segments, and so many children, as the library was told; one that was told nothing sends whole vectors.
        const LibraryChoice &choice = library_.choose(point.collective, algorithm.name, settings(point, algorithm));
        if (ours->segments != 0)
            call.segment_elements = choice.segment_bytes.has_value()
                                        ? elements_of(*choice.segment_bytes, point.dtype.bytes)
                                        : std::max<std::size_t>(exchange.count(), 1);
        if (ours->least_fanout != 0) call.fanout = static_cast<std::int32_t>(choice.fanout.value_or(0));
        if (!refusal(*ours, call).empty()) continue;
        if (traffic) {
            const Schedule schedule = record_schedule(*ours, call, Judged::not_results);
            if (schedule.fault.empty())
                looks.insert(traffic_text(point.collective, scheduled_rows(schedule, point.dtype.bytes)));
            continue;
        }
        Fingerprint fingerprint(exchange, rank_);
        fingerprint.of_algorithm(p2p_, *ours, call);
        looks.insert(gathered(Fingerprint::text() + "\n"));
    }
    return looks;
}

Looks Prover::looks(const PlanPoint &point) {
    Looks looks;
    for (const LibraryAlgorithm &algorithm : library_.algorithms(point.collective)) {
        if (!algorithm.forced()) continue;
        const std::string missing = unmet(algorithm.needs, shape(point));
        if (!missing.empty()) looks.unmet[algorithm.name] = missing;
        try {
            looks.in_library[algorithm.name] = seen(point, algorithm.name);
        } catch (const PointError &) {
            continue; // it cannot be what ran
        }
        looks.of_schedules[algorithm.name] = looks_of_schedules(point, algorithm);
    }
    return looks;
}

Judgement Prover::prove(const PlanPoint &point) {
    if (point.nonblocking) {
        return {
            Judgement::Kind::unverified, {}, "the library chooses the algorithms of non-blocking calls by other means"};
    }
    if (*evidence(point) == '\0') {
        return {Judgement::Kind::unverified,
                {},
                "this library counts no messages (Open MPI: OMPI_MCA_pml_monitoring_enable=1), and nothing is reduced"};
    }
    std::string key = std::string(name_of(point.collective));
    for (const auto &[name, value] : point.entries) {
        if (name != "algorithm") key.append("\t").append(name).append("=").append(value);
    }
    try {
        if (!looks_.contains(key)) looks_[key] = looks(point);
        const Looks &looks = looks_[key];
        const auto known = looks.in_library.find(point.algorithm);
        const std::string look = known == looks.in_library.end() ? seen(point, point.algorithm) : known->second;
        Judgement judgement = judge(point.algorithm, look, looks);
        if (std::string(evidence(point)) == "fingerprint") {
            judgement.reason +=
                std::string(judgement.reason.empty() ? "" : "; ") +
                "seen with an operation of a user's and elements of 8 bytes, which may change the choice";
        }
        return judgement;
    } catch (const PointError &error) {
        return {Judgement::Kind::unverified, {}, error.what()};
    }
}

void run_proof(const std::vector<PlanPoint> &plan, const std::string &path, const std::string &references,
               MPI_Comm world) {
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    std::unique_ptr<Journal> journal;
    if (rank == 0) journal = std::make_unique<Journal>(path);
    Prover prover(world, references);
    for (const PlanPoint &point : plan) {
        if (point.origin != Origin::library) continue;
        const Judgement judgement = prover.prove(point);
        if (journal == nullptr) continue;
        Json json;
        json.begin_object()
            .member("kind", "proof")
            .member("key", point.key)
            .member("requested", point.algorithm)
            .member("verdict", judgement_name(judgement.kind))
            .member("evidence", prover.evidence(point))
            .key("consistent_with")
            .begin_array();
        for (const std::string &name : judgement.consistent_with) json.value(name);
        json.end_array().key("reason");
        if (judgement.reason.empty())
            json.null();
        else
            json.value(judgement.reason);
        journal->append(json.end_object().text());
    }
}

} // namespace collpress
