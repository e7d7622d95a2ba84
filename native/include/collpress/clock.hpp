// The clock of every measurement: monotonic, in nanoseconds, one per machine.
//
// A program built by SimGrid's smpicxx lives in simulated time, and MPI_Wtime is the only clock that is simulated
// everywhere.
#ifndef COLLPRESS_CLOCK_HPP
#define COLLPRESS_CLOCK_HPP

#include <cstdint>

#include <mpi.h>

#if defined(SMPI) || defined(SMPI_H)
#include <cmath>
#else
#include <ctime>
#endif

namespace collpress {

#if defined(SMPI) || defined(SMPI_H)

inline constexpr const char *clock_name = "MPI_Wtime (simulated)";

inline std::int64_t now_ns() { return std::llround(MPI_Wtime() * 1e9); }
inline double clock_resolution_s() { return MPI_Wtick(); }

#else

inline constexpr const char *clock_name = "CLOCK_MONOTONIC";

inline std::int64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

inline double clock_resolution_s() {
    timespec resolution;
    clock_getres(CLOCK_MONOTONIC, &resolution);
    return static_cast<double>(resolution.tv_sec) + static_cast<double>(resolution.tv_nsec) * 1e-9;
}

#endif

} // namespace collpress

#endif
