// How ranks are brought to start an iteration together.
#pragma once

#include "core/plan.hpp"
#include "measure/barrier.hpp"
#include "measure/global_clock.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <mpi.h>

namespace collpress {

class Start {
  public:
    virtual ~Start() = default;
    // Returns when this rank shall start; whether it could start in time.
    virtual bool wait() = 0;
    // Collective, once before a point's iterations.
    virtual void prepare() {}
    // After a batch of which too many iterations had a late rank: ask less of the ranks.
    virtual void relax() {}
    // A moment of this rank's clock as one that can be compared between ranks; none where that is unknown.
    virtual const GlobalClock *clock() const { return nullptr; }
};

// Dissemination: see barrier.hpp. The default, for it depends on no library's choice of an algorithm.
class DisseminationStart : public Start {
  public:
    explicit DisseminationStart(const Barrier &barrier) : barrier_(barrier) {}
    bool wait() override {
        barrier_.wait();
        return true;
    }

  private:
    const Barrier &barrier_;
};

// The library's own barrier, as most benchmarks do. When ranks leave it depends on its algorithm.
class BarrierStart : public Start {
  public:
    explicit BarrierStart(MPI_Comm parent) { MPI_Comm_dup(parent, &comm_); }
    ~BarrierStart() override { MPI_Comm_free(&comm_); }
    bool wait() override {
        MPI_Barrier(comm_);
        return true;
    }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

// No synchronisation: iterations follow each other as fast as they can, which measures throughput, not latency.
class NoStart : public Start {
  public:
    bool wait() override { return true; }
};

// At a moment of a global clock that rank 0 names, a few broadcasts ahead; who sees it too late says so, and the
// iteration does not count. S. Hunold, A. Carpen-Amarie: Hierarchical Clock Synchronization in MPI. CLUSTER 2018
// (there: round-time).
class WindowStart : public Start {
  public:
    WindowStart(MPI_Comm parent, MPI_Comm host);
    ~WindowStart() override;

    bool wait() override;
    void prepare() override;
    void relax() override { ahead_ *= 2; }
    const GlobalClock *clock() const override { return &clock_; }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0;
    GlobalClock clock_;
    std::int64_t synchronised_ns_ = 0; // local time; 0: never
    std::int64_t broadcast_ns_ = 0;    // what a broadcast takes, the largest of all ranks
    int ahead_ = 2;                    // broadcasts
};

// Each kind is made when it is first asked for; that is collective.
class Starts {
  public:
    Starts(MPI_Comm world, MPI_Comm host, const Barrier &barrier) : world_(world), host_(host), barrier_(barrier) {}

    Start &of(Sync sync);
    // Collective: why ranks cannot be started so, on this allocation; empty where they can.
    std::string refusal(Sync sync) const;

  private:
    MPI_Comm world_;
    MPI_Comm host_;
    const Barrier &barrier_;
    std::unique_ptr<Start> starts_[sync_names.size()];
};

} // namespace collpress
