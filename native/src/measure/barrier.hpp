// Start synchronisation that does not depend on the library's choice of a barrier algorithm.
#pragma once

#include <vector>

#include <mpi.h>

namespace collpress {

// Dissemination barrier (Hensgen, Finkel, Manber 1988) on a communicator of its own: in round k rank r signals r + 2^k
// and waits for r - 2^k. Every rank leaves after the same number of rounds, about one message latency apart.
class Barrier {
  public:
    explicit Barrier(MPI_Comm parent) {
        MPI_Comm_dup(parent, &comm_);
        int rank = 0;
        int size = 0;
        MPI_Comm_rank(comm_, &rank);
        MPI_Comm_size(comm_, &size);
        for (int distance = 1; distance < size; distance *= 2) {
            rounds_.push_back({(rank + distance) % size, (rank + size - distance) % size});
        }
    }
    ~Barrier() { MPI_Comm_free(&comm_); }
    Barrier(const Barrier &) = delete;
    Barrier &operator=(const Barrier &) = delete;

    void wait() const {
        for (const Round &round : rounds_) {
            MPI_Sendrecv(nullptr, 0, MPI_BYTE, round.to, 0, nullptr, 0, MPI_BYTE, round.from, 0, comm_,
                         MPI_STATUS_IGNORE);
        }
    }

  private:
    struct Round {
        int to;
        int from;
    };
    MPI_Comm comm_ = MPI_COMM_NULL;
    std::vector<Round> rounds_;
};

} // namespace collpress
