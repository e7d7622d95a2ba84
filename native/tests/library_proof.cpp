// What does the MPI library really send? For each algorithm that it offers, one line on rank 0: its name, then each
// rank's number of messages to each other rank and each rank's bytes, from the traffic counters of Open MPI
// (pml_monitoring_enable=1).
//
//   library-proof COLLECTIVE COUNT [SEGMENT_BYTES [FANOUT]]           under mpiexec; 0: not set
//
// With a setting only the algorithms that heed it; never those for two ranks.
#include "backends/mpi/library.hpp"
#include "backends/mpi/library_call.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

namespace {

using namespace collpress;

class TrafficCounter {
  public:
    TrafficCounter(MPI_T_pvar_session session, const char *name) : session_(session) {
        int index = 0;
        MPI_Comm world = MPI_COMM_WORLD;
        int length = 0;
        if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_SIZE, &index) != MPI_SUCCESS) {
            std::fprintf(stderr, "no traffic counters: set OMPI_MCA_pml_monitoring_enable=1\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        MPI_T_pvar_handle_alloc(session_, index, &world, &handle_, &length);
        MPI_T_pvar_start(session_, handle_);
        values_.resize(static_cast<std::size_t>(length));
    }

    std::vector<unsigned long long> read() {
        MPI_T_pvar_read(session_, handle_, values_.data());
        return values_;
    }

  private:
    MPI_T_pvar_session session_;
    MPI_T_pvar_handle handle_ = MPI_T_PVAR_HANDLE_NULL;
    std::vector<unsigned long long> values_;
};

void print_rows(const std::vector<unsigned long long> &before, const std::vector<unsigned long long> &after, int rank) {
    const std::size_t size = before.size();
    std::vector<unsigned long long> row(size);
    for (std::size_t i = 0; i < size; ++i) row[i] = after[i] - before[i];
    std::vector<unsigned long long> all(size * size);
    const int length = static_cast<int>(size);
    MPI_Gather(row.data(), length, MPI_UNSIGNED_LONG_LONG, all.data(), length, MPI_UNSIGNED_LONG_LONG, 0,
               MPI_COMM_WORLD);
    if (rank != 0) return;
    for (const unsigned long long value : all) std::printf(" %llu", value);
}

struct Asked {
    Collective collective;
    std::size_t count;
    LibrarySettings settings;
};

bool heeds(const LibraryAlgorithm &algorithm, const LibrarySettings &settings) {
    return (algorithm.segments || !settings.segment_bytes.has_value()) &&
           (algorithm.least_fanout != 0 || !settings.fanout.has_value());
}

void prove(int rank, std::size_t ranks, const Asked &asked) {
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_session_create(&session);
    TrafficCounter messages(session, "pml_monitoring_messages_count");
    TrafficCounter bytes(session, "pml_monitoring_messages_size");
    const Exchange exchange(asked.collective, ranks, asked.count, 0,
                            block_counts(asked.collective, ranks, asked.count, Imbalance::none, 0));
    std::vector<float> send(exchange.contribution(static_cast<std::size_t>(rank)) + 1);
    std::vector<float> recv(exchange.recv_elements(static_cast<std::size_t>(rank), false) + 1);
    const collpress_call call{
        send.data(), recv.data(), asked.count, COLLPRESS_FLOAT32, COLLPRESS_SUM, 0, exchange.counts().data(), 0, 0};
    Library library(MPI_COMM_WORLD);
    for (const LibraryAlgorithm &algorithm : library.algorithms(asked.collective)) {
        if (!heeds(algorithm, asked.settings) || algorithm.needs.exactly_ranks == 2) continue;
        const LibraryChoice &choice = library.choose(asked.collective, algorithm.name, asked.settings);
        const LibraryCall library_call(exchange, call, rank, choice.comm);
        library.engage(choice);
        library_call.run(); // the first call may set up connections
        const auto messages_before = messages.read();
        const auto bytes_before = bytes.read();
        library_call.run();
        const auto messages_after = messages.read();
        const auto bytes_after = bytes.read();
        library.release();
        if (rank == 0) std::printf("%s", algorithm.name.c_str());
        print_rows(messages_before, messages_after, rank);
        print_rows(bytes_before, bytes_after, rank);
        if (rank == 0) std::printf("\n");
    }
    MPI_T_pvar_session_free(&session);
}

std::optional<std::size_t> setting(int argc, char **argv, int index) {
    const std::size_t value = index < argc ? std::strtoul(argv[index], nullptr, 10) : 0;
    return value == 0 ? std::nullopt : std::optional(value);
}

} // namespace

int main(int argc, char **argv) {
    int provided = 0;
    int rank = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    prove(rank, static_cast<std::size_t>(size),
          {collective_of(argv[1]).value(),
           std::strtoul(argv[2], nullptr, 10),
           {setting(argc, argv, 3), setting(argc, argv, 4)}});
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
