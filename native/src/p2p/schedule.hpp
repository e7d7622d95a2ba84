// The schedule of an algorithm: all ranks run in this process, without MPI, and what each does is noted and
// judged.
//
// The data are real (whole numbers that wrap around, so that any contribution that is missing, misplaced or counted
// twice shows), hence the schedule is that of a verified run.
#pragma once

#include "collpress/algorithm.h"

#include "core/collective.hpp"
#include "p2p/recorder.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace collpress {

// One call of a collective, as all ranks make it.
struct ScheduledCall {
    Collective collective = Collective::allreduce;
    std::int32_t ranks = 1;
    std::size_t count = 0;
    std::int32_t root = 0;
    bool in_place = false;
    std::size_t segment_elements = 0;
    std::int32_t fanout = 0;
    std::int32_t ranks_per_node = 0; // 0: all ranks on one machine
    Imbalance imbalance = Imbalance::none;
    std::uint64_t imbalance_seed = 0;
};

// Why there can be no such call of the algorithm, in words; empty where there can.
std::string refusal(const collpress_algorithm &algorithm, const ScheduledCall &call);

struct Schedule {
    std::vector<std::vector<ScheduledOperation>> by_rank;
    // Empty: every rank got what the collective gives it and changed nothing that is not its to change; no rank left a
    // barrier before all had come; no message is longer than the segment that was asked for.
    std::string fault;
    bool steps_agree = true;       // each message is received in the step in which it is sent
    bool depends_on_nodes = false; // the algorithm asked which machine a rank runs on
};

// Whether results are judged too: most of the time goes there.
enum class Judged { everything, not_results };

// The call is not refused.
Schedule record_schedule(const collpress_algorithm &algorithm, const ScheduledCall &call,
                         Judged judged = Judged::everything);

} // namespace collpress
