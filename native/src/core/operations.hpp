// The kinds of operations that a point can measure: the library's own, and an algorithm's on p2p.
#pragma once

#include "backends/mpi/library.hpp"
#include "backends/mpi/library_call.hpp"
#include "core/call_buffers.hpp"
#include "measure/timing.hpp"
#include "p2p/mpi_p2p.hpp"

namespace collpress {

class CallOperation : public Operation {
  public:
    explicit CallOperation(CallBuffers &buffers) : buffers_(buffers) {}

    void prepare(bool poison) override { buffers_.prepare(poison); }

  private:
    CallBuffers &buffers_;
};

class LibraryOperation : public CallOperation {
  public:
    LibraryOperation(Library &library, const LibraryChoice &choice, const Exchange &exchange, std::size_t element_bytes,
                     int rank, CallBuffers &buffers)
        : CallOperation(buffers), library_(library), choice_(choice),
          shape_{exchange.count(), exchange.count() * element_bytes, exchange.ranks(), buffers.call().send == nullptr},
          library_call_(exchange, buffers.call(), rank, choice.comm) {}

    void begin() override {
        if (!library_.engage(choice_) && verdict_.ok()) {
            verdict_ = {Status::failed, "the library did not take the setting for " + choice_.algorithm.name};
        }
    }
    void end() override { library_.release(); }

    void run() override { note(library_call_.run()); }
    const Verdict &verdict() const override { return verdict_; }
    bool user_operation() const { return library_call_.user_operation(); }

  protected:
    void note(int result) {
        if (result != MPI_SUCCESS && verdict_.ok()) verdict_ = library_.judge(result, choice_, shape_);
    }
    LibraryCall &library_call() { return library_call_; }

  private:
    Library &library_;
    const LibraryChoice &choice_;
    CallShape shape_;
    LibraryCall library_call_;
    Verdict verdict_;
};

// Started, and completed after what is done in between: nothing, unless somebody says what.
class NonblockingOperation : public LibraryOperation {
  public:
    using LibraryOperation::LibraryOperation;

    void run() override {
        run([] {});
    }
    template <typename Between>
    void run(Between &&between) {
        MPI_Request request = MPI_REQUEST_NULL;
        note(library_call().start(&request));
        between();
        if (request != MPI_REQUEST_NULL) note(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
};

class AlgorithmOperation : public CallOperation {
  public:
    AlgorithmOperation(MpiP2p &p2p, const collpress_algorithm &algorithm, CallBuffers &buffers)
        : CallOperation(buffers), p2p_(p2p), algorithm_(algorithm), call_(buffers.call()) {}

    void run() override { p2p_.run(algorithm_, call_); }
    const Verdict &verdict() const override { return p2p_.verdict(); }

  private:
    MpiP2p &p2p_;
    const collpress_algorithm &algorithm_;
    const collpress_call &call_;
};

} // namespace collpress
