// How errors grow where results become inputs: the allreduce is called again and again, and what comes out, over the
// number of ranks and moved by one element (what was first becomes last), is every rank's contribution to the next
// round, as if a flow carried the field one cell further each time. Outside all timing.
//
// In exact arithmetic the first round gives the mean of all ranks' contributions, and every later round gives it again,
// moved: it is the reference of every round, made once, in float64. A codec that rounds each value by itself, to
// numbers that it leaves alone the next time, shows an error that stays; one whose rounding depends on the neighbours,
// or that moves its own output further, an error that grows. Without the move a codec of blocks would find its own
// blocks again. CC-Bench names error propagation as future work.
#pragma once

#include "measure/data.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <mpi.h>

namespace collpress {

inline constexpr std::size_t most_feedback_rounds = 1'000'000;
inline constexpr std::size_t dense_rounds = 64; // all kept; behind them 8 for each doubling

// Over all ranks. NaN where an element got lost, or nothing can be compared.
struct FeedbackRound {
    std::size_t round = 0; // from 1 on
    double max_abs_error = 0;
    double nrmse = 0;       // over the value range of the reference
    double bias = 0;        // mean signed error
    std::uint64_t lost = 0; // elements that are no longer finite, though their reference is
};

struct FeedbackReport {
    std::size_t asked = 0;
    std::size_t done = 0;
    std::size_t compared = 0; // elements of each rank: those whose reference is finite
    double value_range = 0;   // of the reference
    std::vector<FeedbackRound> rounds;
};

// Whether a round before the last one is kept.
bool is_kept_round(std::size_t round);

class Feedback {
  public:
    // For allreduce with sum over float32 or float64. Throws std::bad_alloc: it takes 8 bytes an element.
    explicit Feedback(const DataSource &data);

    // Collective. Calls run(), which makes `recv` of all ranks' contributions, `asked` times, or until go_on() says no
    // on every rank. Both buffers hold values of the data's type; the contribution is overwritten. Only rank 0's report
    // is whole.
    FeedbackReport operator()(MPI_Comm world, std::size_t asked, void *contribution, const void *recv,
                              const std::function<void()> &run, const std::function<bool()> &go_on) const;

  private:
    // `moved`: by so many elements, from 0 to less than the length.
    template <typename T>
    FeedbackRound compare(MPI_Comm world, const T *values, std::size_t moved, const FeedbackReport &report) const;

    const DataSource &data_;
    std::vector<double> reference_; // not finite where nothing can be expected
};

} // namespace collpress
