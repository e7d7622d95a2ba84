// How well do clocks that are known to differ agree after synchronisation? Under mpiexec; every rank gets a clock of
// its own, made of the machine's: ahead by 1 s times its rank, and fast or slow by some parts per million.
//
//   clock-sync FIT_POINTS [RANKS_THAT_SHARE_A_CLOCK]
//
// Prints, on rank 0, the largest error of any rank's global time against the truth right after, 0.5 s after, and the
// residual that the program itself finds then, in ns.
#include "measure/global_clock.hpp"

#include "collpress/clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <mpi.h>
#include <unistd.h>

namespace {

void measure(int together, std::size_t fit_points) {
    using namespace collpress;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm shares = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank / together, rank, &shares);
    const int which = rank / together;
    const double drift = which == 0 ? 0 : (which % 2 == 0 ? -20e-6 : 20e-6) * which;
    const std::int64_t begin = now_ns();
    const auto skewed = [&](std::int64_t truth) {
        return truth + std::llround(drift * static_cast<double>(truth - begin)) + which * std::int64_t{1'000'000'000};
    };

    SyncEffort effort;
    effort.fit_points = fit_points;
    GlobalClock clock(MPI_COMM_WORLD, shares, [&] { return skewed(now_ns()); }, effort);
    clock.synchronise();
    const auto worst = [&] {
        const std::int64_t truth = now_ns();
        double error = std::fabs(static_cast<double>(clock.global(skewed(truth)) - truth));
        MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return error;
    };
    const double at_once = worst();
    usleep(500'000);
    MPI_Barrier(MPI_COMM_WORLD);
    const double later = worst();
    const double residual = clock.residual();
    if (rank == 0) std::printf("%.0f %.0f %.0f\n", at_once, later, residual);
    MPI_Comm_free(&shares);
}

} // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    measure(argc > 2 ? std::atoi(argv[2]) : 1, static_cast<std::size_t>(std::atoi(argv[1])));
    MPI_Finalize();
    return 0;
}
