// Which algorithm does the MPI library really run? For each algorithm that it offers and each rank, one line: its name,
// the rank, then each call of the reduction in one allreduce: the number of elements and which ranks' values were in
// the two operands (a bit for each rank). No counters of the library's are needed: the reduction is ours.
//
//   library-fingerprint COUNT CALLS     under mpiexec; the last of CALLS calls is told, or that the library refuses
#include "backends/mpi/library.hpp"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <mpi.h>

namespace {

std::string &seen() { // an MPI_User_function has no other place to leave anything
    static std::string text;
    return text;
}

void unite(void *in, void *inout, int *count, MPI_Datatype *) {
    const auto *from = static_cast<const std::uint64_t *>(in);
    auto *to = static_cast<std::uint64_t *>(inout);
    if (*count > 0) {
        char text[64];
        std::snprintf(text, sizeof text, " %d:%" PRIx64 "|%" PRIx64, *count, from[0], to[0]);
        seen() += text;
    }
    for (int i = 0; i < *count; ++i) to[i] |= from[i];
}

void tell(const std::string &name, int rank, int size) {
    for (int turn = 0; turn < size; ++turn) {
        std::string text = rank == turn ? name + " " + std::to_string(rank) + seen() + "\n" : "";
        int length = static_cast<int>(text.size());
        MPI_Bcast(&length, 1, MPI_INT, turn, MPI_COMM_WORLD);
        text.resize(static_cast<std::size_t>(length));
        MPI_Bcast(text.data(), length, MPI_CHAR, turn, MPI_COMM_WORLD);
        if (rank == 0) std::fputs(text.c_str(), stdout);
    }
}

void prove(int rank, int size, int count, int calls) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(unite, 1, &op);
    const std::vector<std::uint64_t> send(static_cast<std::size_t>(count), std::uint64_t{1} << rank);
    std::vector<std::uint64_t> recv(send.size());
    collpress::Library library(MPI_COMM_WORLD);
    for (const collpress::LibraryAlgorithm &algorithm : library.algorithms(collpress::Collective::allreduce)) {
        const collpress::LibraryChoice &choice = library.choose(collpress::Collective::allreduce, algorithm.name, {});
        int error = MPI_SUCCESS;
        library.engage(choice);
        for (int call = 0; call < calls; ++call) {
            seen().clear();
            error = MPI_Allreduce(send.data(), recv.data(), count, MPI_UINT64_T, op, choice.comm);
        }
        library.release();
        if (error != MPI_SUCCESS) {
            const auto elements = static_cast<std::size_t>(count);
            seen() =
                " " + library.judge(error, choice, {elements, 8 * elements, static_cast<std::size_t>(size)}).reason;
        }
        tell(algorithm.name, rank, size);
    }
    MPI_Op_free(&op);
}

} // namespace

int main(int argc, char **argv) {
    int provided = 0;
    int rank = 0;
    int size = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    prove(rank, size, std::atoi(argv[1]), std::atoi(argv[2]));
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
