// What does the MPI library really send? For each algorithm that it offers, one line on rank 0: its name, then each
// rank's number of messages to each other rank and each rank's bytes, from the traffic counters of Open MPI
// (pml_monitoring_enable=1).
//
//   library-proof COUNT           under mpiexec
#include "backends/mpi/library.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <mpi.h>

namespace {

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

void prove(int rank, const std::vector<float> &send) {
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_session_create(&session);
    TrafficCounter messages(session, "pml_monitoring_messages_count");
    TrafficCounter bytes(session, "pml_monitoring_messages_size");
    std::vector<float> recv(send.size());
    collpress::Library library(MPI_COMM_WORLD);
    for (const collpress::LibraryAlgorithm &algorithm : library.algorithms(collpress::Collective::allreduce)) {
        MPI_Comm comm = library.choose(collpress::Collective::allreduce, algorithm.name, {}).comm;
        const auto call = [&] {
            MPI_Allreduce(send.data(), recv.data(), static_cast<int>(send.size()), MPI_FLOAT, MPI_SUM, comm);
        };
        call(); // the first call may set up connections
        const auto messages_before = messages.read();
        const auto bytes_before = bytes.read();
        call();
        const auto messages_after = messages.read();
        const auto bytes_after = bytes.read();
        if (rank == 0) std::printf("%s", algorithm.name.c_str());
        print_rows(messages_before, messages_after, rank);
        print_rows(bytes_before, bytes_after, rank);
        if (rank == 0) std::printf("\n");
    }
    MPI_T_pvar_session_free(&session);
}

} // namespace

int main(int argc, char **argv) {
    int provided = 0;
    int rank = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    prove(rank, std::vector<float>(std::strtoul(argv[1], nullptr, 10), 1.0F));
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
