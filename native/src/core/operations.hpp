// The two kinds of operations that a point can measure: the library's own, and an algorithm's on p2p.
#pragma once

#include "backends/mpi/library.hpp"
#include "measure/timing.hpp"
#include "p2p/mpi_p2p.hpp"

#include <cstring>

namespace collpress {

// A call whose result has `bytes` bytes.
class CallOperation : public Operation {
  public:
    CallOperation(const collpress_call &call, std::size_t bytes) : call_(call), bytes_(bytes) {}

    // NaN in every element (-1 for integers).
    void poison() override {
        if (bytes_ != 0) std::memset(call_.recv, 0xFF, bytes_);
    }

  protected:
    collpress_call call_;

  private:
    std::size_t bytes_;
};

class LibraryAllreduce : public CallOperation {
  public:
    LibraryAllreduce(MPI_Comm comm, const collpress_call &call, std::size_t bytes)
        : CallOperation(call, bytes), comm_(comm), type_(Library::datatype(static_cast<collpress_dtype>(call.dtype))),
          op_(Library::operation(static_cast<collpress_op>(call.op))) {}

    void run() override {
        const int result = MPI_Allreduce(call_.send, call_.recv, static_cast<int>(call_.count), type_, op_, comm_);
        if (result != MPI_SUCCESS && verdict_.ok()) {
            verdict_ = {Status::failed, "MPI_Allreduce returned error " + std::to_string(result)};
        }
    }
    const Verdict &verdict() const override { return verdict_; }

  private:
    MPI_Comm comm_;
    MPI_Datatype type_;
    MPI_Op op_;
    Verdict verdict_;
};

class AlgorithmOperation : public CallOperation {
  public:
    AlgorithmOperation(MpiP2p &p2p, const collpress_algorithm &algorithm, const collpress_call &call, std::size_t bytes)
        : CallOperation(call, bytes), p2p_(p2p), algorithm_(algorithm) {}

    void run() override { p2p_.run(algorithm_, call_); }
    const Verdict &verdict() const override { return p2p_.verdict(); }

  private:
    MpiP2p &p2p_;
    const collpress_algorithm &algorithm_;
};

} // namespace collpress
