// The two kinds of operations that a point can measure: the library's own, and an algorithm's on p2p.
#pragma once

#include "backends/mpi/library.hpp"
#include "backends/mpi/library_call.hpp"
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

class LibraryOperation : public CallOperation {
  public:
    LibraryOperation(Library &library, const LibraryChoice &choice, const Exchange &exchange, int rank,
                     const collpress_call &call, std::size_t bytes)
        : CallOperation(call, bytes), library_(library), choice_(choice),
          shape_{call.count, bytes, exchange.ranks(), call.send == nullptr},
          library_call_(exchange, call, rank, choice.comm) {}

    void begin() override {
        if (!library_.engage(choice_) && verdict_.ok()) {
            verdict_ = {Status::failed, "the library did not take the setting for " + choice_.algorithm.name};
        }
    }
    void end() override { library_.release(); }

    void run() override {
        const int result = library_call_.run();
        if (result != MPI_SUCCESS && verdict_.ok()) verdict_ = library_.judge(result, choice_, shape_);
    }
    const Verdict &verdict() const override { return verdict_; }

  private:
    Library &library_;
    const LibraryChoice &choice_;
    CallShape shape_;
    LibraryCall library_call_;
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
