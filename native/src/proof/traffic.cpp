#include "proof/traffic.hpp"

#include <algorithm>

namespace collpress {

TrafficCounters::TrafficCounters(MPI_Comm world) {
    if (MPI_T_pvar_session_create(&session_) != MPI_SUCCESS) return;
    counts_ = open("pml_monitoring_messages_count", world);
    sizes_ = open("pml_monitoring_messages_size", world);
}

TrafficCounters::~TrafficCounters() {
    if (session_ != MPI_T_PVAR_SESSION_NULL) MPI_T_pvar_session_free(&session_); // and the handles
}

TrafficCounters::Counter TrafficCounters::open(const char *name, MPI_Comm world) const {
    Counter counter;
    int index = 0;
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_SIZE, &index) != MPI_SUCCESS) return {};
    void *bound_to = static_cast<void *>(&world);
    if (MPI_T_pvar_handle_alloc(session_, index, bound_to, &counter.handle, &counter.length) != MPI_SUCCESS) return {};
    if (MPI_T_pvar_start(session_, counter.handle) != MPI_SUCCESS) return {};
    return counter;
}

std::vector<unsigned long long> TrafficCounters::read(const Counter &counter) const {
    std::vector<unsigned long long> values(static_cast<std::size_t>(counter.length));
    MPI_T_pvar_read(session_, counter.handle, values.data());
    return values;
}

SentRow TrafficCounters::read() const { return {read(counts_), read(sizes_)}; }

std::string traffic_text(Collective collective, const std::vector<SentRow> &by_rank) {
    std::string text;
    for (const SentRow &row : by_rank) {
        for (std::size_t to = 0; to < row.messages.size(); ++to) {
            const unsigned long long bytes = collective == Collective::barrier ? 0 : row.bytes[to];
            text += std::to_string(row.messages[to]) + ":" + std::to_string(bytes) + " ";
        }
        text += '\n';
    }
    return text;
}

bool is_silent(const std::vector<SentRow> &by_rank) {
    return std::ranges::all_of(by_rank, [](const SentRow &row) {
        return std::ranges::all_of(row.messages, [](unsigned long long messages) { return messages == 0; });
    });
}

std::vector<SentRow> gathered_rows(const SentRow &before, const SentRow &after, MPI_Comm comm) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const auto ranks = static_cast<std::size_t>(size);
    const auto gather = [&](const std::vector<unsigned long long> &from, const std::vector<unsigned long long> &to) {
        std::vector<unsigned long long> row(ranks);
        for (std::size_t i = 0; i < ranks; ++i) row[i] = to[i] - from[i];
        std::vector<unsigned long long> all(rank == 0 ? ranks * ranks : 0);
        MPI_Gather(row.data(), size, MPI_UNSIGNED_LONG_LONG, all.data(), size, MPI_UNSIGNED_LONG_LONG, 0, comm);
        return all;
    };
    const std::vector<unsigned long long> messages = gather(before.messages, after.messages);
    const std::vector<unsigned long long> bytes = gather(before.bytes, after.bytes);
    std::vector<SentRow> rows;
    for (std::size_t at = 0; at < messages.size(); at += ranks) {
        const auto first = static_cast<std::ptrdiff_t>(at);
        const auto last = static_cast<std::ptrdiff_t>(at + ranks);
        rows.push_back(
            {{messages.begin() + first, messages.begin() + last}, {bytes.begin() + first, bytes.begin() + last}});
    }
    return rows;
}

std::vector<SentRow> scheduled_rows(const Schedule &schedule, std::size_t element_bytes) {
    const std::size_t ranks = schedule.by_rank.size();
    std::vector<SentRow> rows(ranks, {std::vector<unsigned long long>(ranks), std::vector<unsigned long long>(ranks)});
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        for (const ScheduledOperation &operation : schedule.by_rank[rank]) {
            if (operation.kind != ScheduledOperation::Kind::send) continue;
            const auto to = static_cast<std::size_t>(operation.peer);
            ++rows[rank].messages[to];
            rows[rank].bytes[to] += operation.bytes / Recorder::element_bytes * element_bytes;
        }
    }
    return rows;
}

} // namespace collpress
