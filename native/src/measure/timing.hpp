// The timed iterations of one point: batches, and the rule that ends them.
#pragma once

#include "collpress/algorithm.h"

#include "core/verdict.hpp"
#include "measure/resources.hpp"
#include "measure/start.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <mpi.h>

namespace collpress {

// One collective operation with its buffers, ready to be called again and again.
class Operation {
  public:
    virtual ~Operation() = default;
    virtual void begin() {} // before and after runs that follow each other, outside of timed regions
    virtual void end() {}
    // Before each run, outside of timed regions. `poison`: what the run does not write into the result buffer shows in
    // a check.
    virtual void prepare(bool poison) = 0;
    virtual void run() = 0;
    virtual const Verdict &verdict() const = 0; // the first fault so far
};

// While this lives, the operation may be run; no other collective may be called meanwhile.
class InUse {
  public:
    explicit InUse(Operation &operation) : operation_(operation) { operation_.begin(); }
    ~InUse() { operation_.end(); }
    InUse(const InUse &) = delete;
    InUse &operator=(const InUse &) = delete;

  private:
    Operation &operation_;
};

struct TimingLimits {
    std::size_t min_iterations;
    std::size_t max_iterations;
    double precision;
    std::int64_t deadline_ns; // on rank 0's clock
    std::int64_t earliest_ns; // before that nothing but the deadline and the number of iterations ends them
    double estimate_s;        // of one iteration, the barrier included, to size the first batch
};

struct Timings {
    std::vector<std::int64_t> start_ns; // this rank's clock, one for each iteration that counts
    std::vector<std::int64_t> end_ns;
    std::size_t late = 0; // iterations that do not count, for a rank could not start in time
    // Rank 0, for each iteration: the maximum over ranks of end - start; where all ranks know a global clock, the last
    // end less the first start by that.
    std::vector<double> slowest_s;
    const char *stop_reason = nullptr;
    bool precise = false;
    Verdict verdict; // agreed by all ranks
};

// Collective. Batches double the number of iterations; after each, outside the timed region, rank 0 decides and tells
// the others, so all stop at the same iteration. Whatever the deadline, min(3, min_iterations) iterations are run.
// Iterations in which a rank started late are left out; when most are, the point fails, and says so.
// Before the last iteration of each batch, and so before the very last one, the result buffer is poisoned, outside the
// timed region: a check of the last result cannot see an earlier one. That iteration is a sample like any other; poison
// before each iteration would put the buffer's cache lines into a state of its own every time.
Timings time_iterations(MPI_Comm comm, Start &start, Operation &operation, const TimingLimits &limits);

// Collective. Seconds of an iteration, over ranks and iterations.
double mean_over_ranks(MPI_Comm comm, const Timings &timings);

// Collective, for ranks that share a clock: the median over iterations of last start less first start, s, on rank 0.
double start_skew(MPI_Comm comm, const Timings &timings);

// Collective. What all ranks used in between: the largest resident set, and switches together.
Usage usage_of_all(MPI_Comm comm, const Usage &before, const Usage &after);

} // namespace collpress
