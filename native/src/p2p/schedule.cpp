#include "p2p/schedule.hpp"

#include "collpress/p2p.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

namespace collpress {

namespace {

constexpr std::uint32_t poison = 0xA5A5A5A5U;
constexpr std::size_t guard = 16; // elements on either side of a buffer that nobody may touch

// Well mixed, so that no wrong combination of contributions has the right sum except by a chance of 2^-32.
std::uint32_t contributed(std::size_t rank, std::size_t index) {
    std::uint64_t x = (static_cast<std::uint64_t>(rank) << 40) + index + 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return static_cast<std::uint32_t>(x ^ (x >> 31));
}

// A buffer of a call; null for the algorithm where the rank has none.
class GuardedBuffer {
  public:
    GuardedBuffer(bool exists, std::size_t elements)
        : exists_(exists), values_((exists ? elements : 0) + 2 * guard, poison) {}

    std::size_t size() const { return values_.size() - 2 * guard; }
    std::uint32_t *data() { return exists_ ? values_.data() + guard : nullptr; }
    std::uint32_t operator[](std::size_t element) const { return values_[guard + element]; }

    void contribute(std::size_t rank, std::size_t first, std::size_t elements) {
        for (std::size_t i = 0; i < elements; ++i) values_[guard + first + i] = contributed(rank, i);
    }
    bool holds_contribution(std::size_t rank) const {
        for (std::size_t i = 0; i < size(); ++i) {
            if ((*this)[i] != contributed(rank, i)) return false;
        }
        return true;
    }
    bool is_intact_around() const {
        const auto is_poison = [](std::uint32_t value) { return value == poison; };
        return std::all_of(values_.begin(), values_.begin() + guard, is_poison) &&
               std::all_of(values_.end() - guard, values_.end(), is_poison);
    }

  private:
    bool exists_;
    std::vector<std::uint32_t> values_;
};

// What the parts of results should be.
class Expectation {
  public:
    std::uint32_t operator()(const ResultPart &part, std::size_t element) {
        if (part.from_end == part.from + 1) return contributed(part.from, part.source + element);
        std::vector<std::uint32_t> &sums = sums_[{part.from, part.from_end}];
        for (std::size_t i = sums.size(); i <= part.source + element; ++i) {
            std::uint32_t sum = 0;
            for (std::size_t rank = part.from; rank < part.from_end; ++rank) sum += contributed(rank, i);
            sums.push_back(sum);
        }
        return sums[part.source + element];
    }

  private:
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::uint32_t>> sums_;
};

std::string wrong_element(const std::vector<ResultPart> &parts, const GuardedBuffer &recv, Expectation &expected) {
    for (const ResultPart &part : parts) {
        for (std::size_t i = 0; i < part.length; ++i) {
            if (recv[part.first + i] == expected(part, i)) continue;
            const std::string source =
                part.from_end == part.from + 1
                    ? "a copy from rank " + std::to_string(part.from)
                    : "a reduction of ranks " + std::to_string(part.from) + " to " + std::to_string(part.from_end - 1);
            return "has a wrong result: its element " + std::to_string(part.first + i) + " is not " + source;
        }
    }
    return "";
}

std::optional<std::size_t> stranger(const Acquaintance &knows, std::size_t ranks) {
    for (std::size_t other = 0; other < ranks; ++other) {
        if (!knows.knows(other)) return other;
    }
    return std::nullopt;
}

using Kind = ScheduledOperation::Kind;

bool exceeds(const std::vector<ScheduledOperation> &operations, std::size_t bytes) {
    return std::any_of(operations.begin(), operations.end(), [&](const ScheduledOperation &operation) {
        return operation.kind == Kind::send && operation.bytes > bytes;
    });
}

bool adds(const std::vector<ScheduledOperation> &operations) {
    return std::any_of(operations.begin(), operations.end(),
                       [](const ScheduledOperation &operation) { return operation.kind == Kind::add; });
}

// Messages of a pair match in the order posted.
bool received_as_sent(const std::vector<std::vector<ScheduledOperation>> &by_rank) {
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::int32_t>> sent;
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::int32_t>> received;
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
        for (const ScheduledOperation &operation : by_rank[rank]) {
            const auto peer = static_cast<std::size_t>(operation.peer);
            if (operation.kind == Kind::send) sent[{rank, peer}].push_back(operation.step);
            if (operation.kind == Kind::receive) received[{peer, rank}].push_back(operation.step);
        }
    }
    return sent == received;
}

} // namespace

std::string refusal(const collpress_algorithm &algorithm, const ScheduledCall &call) {
    const std::string name(name_of(call.collective));
    const auto ranks = static_cast<std::uint32_t>(call.ranks);
    if (ranks < algorithm.min_ranks) return "it needs at least " + std::to_string(algorithm.min_ranks) + " ranks";
    if (algorithm.power_of_two_ranks != 0 && (ranks & (ranks - 1)) != 0) return "it needs a power of two of ranks";
    if (algorithm.count_at_least_ranks != 0 && call.count < ranks) return "it needs a count of at least the ranks";
    if (call.collective == Collective::barrier && call.count != 0) return "a barrier moves no data: its count is 0";
    if (call.root >= call.ranks) return "root " + std::to_string(call.root) + " is not one of the ranks";
    if (call.root != 0 && !is_rooted(call.collective)) return name + " has no root";
    if (call.in_place && !knows_in_place(call.collective)) return name + " knows no calls in place";
    if (call.in_place && algorithm.in_place == 0) return "it takes no calls in place";
    if (call.segment_elements != 0 && algorithm.segments == 0) return "it knows no segments";
    if (call.fanout != 0 && algorithm.least_fanout == 0) return "it knows no fan-out";
    if (call.fanout != 0 && static_cast<std::uint32_t>(call.fanout) < algorithm.least_fanout)
        return "its fan-out is at least " + std::to_string(algorithm.least_fanout);
    if (call.imbalance != Imbalance::none && !has_counts(call.collective))
        return "all ranks' blocks are alike in " + name;
    return "";
}

Schedule record_schedule(const collpress_algorithm &algorithm, const ScheduledCall &call, Judged judged) {
    const bool with_results = judged == Judged::everything;
    const auto size = static_cast<std::size_t>(call.ranks);
    const Exchange exchange(call.collective, size, call.count, static_cast<std::size_t>(call.root),
                            block_counts(call.collective, size, call.count, call.imbalance, call.imbalance_seed));
    const std::size_t *counts = exchange.counts().empty() ? nullptr : exchange.counts().data();
    const bool waits_for_all = call.collective == Collective::barrier;
    const std::int32_t ranks_per_node = call.ranks_per_node == 0 ? call.ranks : call.ranks_per_node;

    Fibers fibers;
    Mailboxes mailboxes(fibers, call.ranks);
    std::vector<std::unique_ptr<Recorder>> recorders;
    std::vector<GuardedBuffer> send;
    std::vector<GuardedBuffer> recv;
    for (std::size_t rank = 0; rank < size; ++rank) {
        recorders.push_back(std::make_unique<Recorder>(mailboxes, static_cast<std::int32_t>(rank), call.ranks,
                                                       ranks_per_node,
                                                       waits_for_all ? Acquaintance(size, rank) : Acquaintance()));
        send.emplace_back(exchange.sends(rank, call.in_place), exchange.contribution(rank));
        recv.emplace_back(exchange.receives(rank), exchange.recv_elements(rank, call.in_place));
        if (!with_results) continue;
        send.back().contribute(rank, 0, send.back().size());
        if (exchange.contributes_in_recv(rank, call.in_place))
            recv.back().contribute(rank, exchange.place(rank), exchange.contribution(rank));
    }
    for (std::size_t rank = 0; rank < size; ++rank) {
        fibers.add([&, rank] {
            const collpress_call one{send[rank].data(), recv[rank].data(), call.count, COLLPRESS_INT32,
                                     COLLPRESS_SUM,     call.root,         counts,     call.segment_elements,
                                     call.fanout};
            algorithm.run(recorders[rank]->table(), &one);
        });
    }
    fibers.run([&] { mailboxes.let_go(); });

    Schedule schedule;
    schedule.fault = mailboxes.fault();
    Expectation expected;
    for (std::size_t rank = 0; rank < size; ++rank) {
        const Recorder &recorder = *recorders[rank];
        const auto judge = [&](bool is_fault, const std::string &what) {
            if (is_fault && schedule.fault.empty()) schedule.fault = "rank " + std::to_string(rank) + " " + what;
        };
        judge(recorder.has_open_requests(), "left requests open");
        judge(!send[rank].is_intact_around() || !recv[rank].is_intact_around(), "writes outside of its buffers");
        judge(with_results && !send[rank].holds_contribution(rank), "changes its send buffer");
        if (call.segment_elements != 0) {
            const std::size_t longest = algorithm.compresses != 0 ? Recorder::longest_stream(call.segment_elements)
                                                                  : call.segment_elements * Recorder::element_bytes;
            judge(exceeds(recorder.operations(), longest), "sends a message longer than a segment");
        }
        judge(algorithm.needs_add == 0 && adds(recorder.operations()),
              "adds streams, and the algorithm does not say so");
        if (waits_for_all) {
            const std::optional<std::size_t> other = stranger(recorder.knows(), size);
            judge(other.has_value(),
                  "leaves the barrier without knowing that rank " + std::to_string(other.value_or(0)) + " has come");
        }
        if (with_results && schedule.fault.empty()) {
            const std::string wrong = wrong_element(exchange.result(rank), recv[rank], expected);
            judge(!wrong.empty(), wrong);
        }
        schedule.depends_on_nodes = schedule.depends_on_nodes || recorder.asked_for_nodes();
        schedule.by_rank.push_back(recorder.operations());
    }
    schedule.steps_agree = received_as_sent(schedule.by_rank);
    return schedule;
}

} // namespace collpress
