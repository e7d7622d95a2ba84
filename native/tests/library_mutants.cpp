// Would the proof pass find out a library that runs another algorithm than it was asked for? A line for each pair of
// the library's algorithms on rank 0: what was asked for, what ran, whether the two look different, and the verdict.
//
//   library-mutants COLLECTIVE COUNT REFERENCES       under mpiexec
#include "proof/prover.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <mpi.h>

namespace {

using namespace collpress;

void judge_all(const PlanPoint &point, const std::string &references, int rank) {
    Prover prover(MPI_COMM_WORLD, references);
    const Looks looks = prover.looks(point);
    if (rank != 0) return;
    for (const auto &[asked, own_look] : looks.in_library) {
        for (const auto &[ran, look] : looks.in_library) {
            const Judgement judgement = judge(asked, look, looks);
            std::printf("%s\t%s\t%s\t%s\n", asked.c_str(), ran.c_str(), look == own_look ? "alike" : "different",
                        judgement_name(judgement.kind));
        }
    }
}

} // namespace

int main(int argc, char **argv) {
    int provided = 0;
    int rank = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PlanPoint point;
    point.collective = collective_of(argv[1]).value();
    point.message_bytes = point.dtype.bytes * std::strtoul(argv[2], nullptr, 10);
    judge_all(point, argv[3], rank);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
