// Runs an algorithm without MPI, all ranks as threads of this process over mailboxes, and notes what each rank does.
//
// The data are real (whole numbers that wrap around, so that any contribution that is missing or counted twice shows),
// hence the schedule is that of a verified run. A send completes only when its receive is posted: an algorithm that
// relies on buffering, or waits for a message that nobody sends, stops here as a deadlock. In place of a codec stands
// the identity.
#pragma once

#include "collpress/algorithm.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace collpress {

struct ScheduledOperation {
    enum class Kind { send, receive, reduce, copy, compress, decompress };

    std::int32_t step; // 0: before the algorithm's first step
    Kind kind;
    std::int32_t peer; // -1: none
    std::size_t bytes;
};

const char *operation_name(ScheduledOperation::Kind kind);

struct Schedule {
    std::vector<std::vector<ScheduledOperation>> by_rank;
    std::string fault; // empty: every rank got every contribution exactly once
};

Schedule record_schedule(const collpress_algorithm &algorithm, std::int32_t ranks, std::size_t count);

} // namespace collpress
