#include "core/verdict.hpp"

#include <cstddef>

namespace collpress {

const char *status_name(Status status) {
    switch (status) {
    case Status::ok:
        return "ok";
    case Status::unsupported:
        return "unsupported";
    case Status::invalid:
        return "invalid";
    case Status::out_of_memory:
        return "out_of_memory";
    case Status::failed:
        return "failed";
    }
    return "failed";
}

Verdict agree(MPI_Comm comm, const Verdict &mine) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    struct {
        int status;
        int rank;
    } own{static_cast<int>(mine.status), rank}, worst{};
    MPI_Allreduce(&own, &worst, 1, MPI_2INT, MPI_MAXLOC, comm);
    if (worst.status == static_cast<int>(Status::ok)) return {};

    Verdict verdict{static_cast<Status>(worst.status), mine.reason};
    int length = static_cast<int>(mine.reason.size());
    MPI_Bcast(&length, 1, MPI_INT, worst.rank, comm);
    verdict.reason.resize(static_cast<std::size_t>(length));
    MPI_Bcast(verdict.reason.data(), length, MPI_CHAR, worst.rank, comm);

    int differs = mine.status != verdict.status || mine.reason != verdict.reason ? 1 : 0;
    int any_differs = 0;
    MPI_Allreduce(&differs, &any_differs, 1, MPI_INT, MPI_MAX, comm);
    if (any_differs != 0) verdict.reason = "rank " + std::to_string(worst.rank) + ": " + verdict.reason;
    return verdict;
}

} // namespace collpress
