// One collective call of the MPI library, made from the same buffers and sizes as a call of an algorithm plugin.
#pragma once

#include "collpress/algorithm.h"
#include "core/collective.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <mpi.h>

namespace collpress {

// In place where call.send is null. A pingpong is a send and a receive, so it has no form that only starts.
//
// An algorithm that was chosen for the communicator (library.hpp) holds for run(): libraries choose those of their
// non-blocking collectives by other means.
class LibraryCall {
  public:
    // Nothing may stand against the call: see refusal(). `exchange` need not outlive this.
    LibraryCall(const Exchange &exchange, const collpress_call &call, int rank, MPI_Comm comm);
    ~LibraryCall();
    LibraryCall(const LibraryCall &) = delete;
    LibraryCall &operator=(const LibraryCall &) = delete;

    // Error codes of MPI.
    int run() const;
    int start(MPI_Request *request) const;

    // The operation is ours, for the library has none for the dtype: that may change the library's choice.
    bool user_operation() const { return user_operation_; }

    // Why MPI, or this library, cannot make such a call; empty where it can.
    static std::string refusal(const Exchange &exchange, collpress_dtype dtype, collpress_op op);
    static const char *function(Collective collective); // "MPI_Allreduce"

  private:
    // Counts and displacements, as one of the two kinds of numbers that MPI takes.
    template <typename Count, typename Displacement>
    struct Arguments {
        Count count = 0;
        std::vector<Count> send_counts;
        std::vector<Displacement> send_offsets;
        std::vector<Count> recv_counts;
        std::vector<Displacement> recv_offsets;
    };

    template <typename Functions, typename Passed, typename... Request>
    int call(const Functions &functions, const Passed &arguments, Request... request) const;
    template <typename Send, typename Receive, typename Count>
    int pingpong(Send send, Receive receive, Count count) const;

    Collective collective_;
    int rank_;
    int ranks_;
    int root_;
    const void *send_; // or MPI_IN_PLACE
    void *recv_;
    MPI_Datatype type_;
    MPI_Op op_ = MPI_OP_NULL;
    bool user_operation_ = false;
    MPI_Comm comm_;
    bool is_large_;
    Arguments<int, int> small_;
    Arguments<MPI_Count, MPI_Aint> large_;
};

} // namespace collpress
