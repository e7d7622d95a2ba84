#include "core/schedules.hpp"

#include "core/json.hpp"
#include "core/plugin.hpp"
#include "core/suggestion.hpp"
#include "p2p/schedule.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace collpress {

namespace {

struct LoadedAlgorithm {
    const collpress_algorithm *interface;
    Collective collective;
};

LoadedAlgorithm load_algorithm(PluginCache &cache, const std::string &path) {
    const Plugin &plugin = cache.load(path);
    const collpress_algorithm *algorithm = plugin.algorithm();
    if (algorithm == nullptr)
        throw PluginError("plugin " + path + " is a " + plugin.kind_name() + "; only algorithms have schedules");
    const std::optional<Collective> collective = collective_of(algorithm->collective);
    if (!collective) {
        throw PluginError("plugin " + path + " is of the unknown collective \"" + algorithm->collective +
                          "\"; known: " + joined({collective_names.begin(), collective_names.end()}));
    }
    return {algorithm, *collective};
}

void write_call(Json &json, const ScheduledCall &call) {
    json.member("ranks", call.ranks)
        .member("count", call.count)
        .member("root", call.root)
        .member("in_place", call.in_place)
        .member("segment", call.segment_elements)
        .member("fanout", call.fanout)
        .member("ranks_per_node", call.ranks_per_node == 0 ? call.ranks : call.ranks_per_node)
        .member("imbalance", imbalance_names[static_cast<std::size_t>(call.imbalance)])
        .member("imbalance_seed", call.imbalance_seed);
}

void write_verdict(Json &json, const Schedule &schedule) {
    json.member("correct", schedule.fault.empty()).key("fault");
    if (schedule.fault.empty())
        json.null();
    else
        json.value(schedule.fault);
    json.member("steps_agree", schedule.steps_agree);
}

std::int32_t step_count(const Schedule &schedule) {
    std::int32_t steps = 0;
    for (const auto &operations : schedule.by_rank) {
        for (const ScheduledOperation &operation : operations) {
            if (operation.kind == ScheduledOperation::Kind::send) steps = std::max(steps, operation.step);
        }
    }
    return steps;
}

// Of all calls that the algorithm takes on so many ranks, those that have met most mistakes: no, few and many elements;
// roots at both ends and within; short and long segments; the least fan-outs and one above the ranks.
std::vector<ScheduledCall> calls_on(std::int32_t ranks, const LoadedAlgorithm &algorithm) {
    const auto size = static_cast<std::size_t>(ranks);
    std::set<std::size_t> counts = {0, 1, size - 1, size, 2 * size + 3};
    std::set<std::int32_t> roots = {0};
    std::set<std::size_t> segments = {0};
    std::set<std::int32_t> fanouts = {0};
    std::set<Imbalance> imbalances = {Imbalance::none};
    if (algorithm.collective == Collective::barrier) counts = {0};
    if (is_rooted(algorithm.collective)) roots = {0, ranks / 2, ranks - 1};
    if (algorithm.interface->segments != 0) segments = {0, 1, 4, 1000};
    if (const auto least = static_cast<std::int32_t>(algorithm.interface->least_fanout); least != 0)
        fanouts = {0, least, least + 1, least + ranks};
    if (has_counts(algorithm.collective))
        imbalances = {Imbalance::none, Imbalance::linear, Imbalance::one_large, Imbalance::random};

    std::vector<ScheduledCall> calls;
    for (const std::size_t count : counts) {
        for (const std::int32_t root : roots) {
            for (const bool in_place : {false, true}) {
                for (const std::size_t segment : segments) {
                    for (const std::int32_t fanout : fanouts) {
                        for (const Imbalance imbalance : imbalances) {
                            const ScheduledCall call{
                                algorithm.collective, ranks, count, root, in_place, segment, fanout, 0, imbalance, 1};
                            if (refusal(*algorithm.interface, call).empty()) calls.push_back(call);
                        }
                    }
                }
            }
        }
    }
    return calls;
}

void write_sent(Json &json, const Schedule &schedule) {
    std::size_t longest = 0;
    json.member("steps", step_count(schedule)).key("sent_bytes").begin_array();
    for (const auto &operations : schedule.by_rank) {
        std::size_t sent = 0;
        for (const ScheduledOperation &operation : operations) {
            if (operation.kind != ScheduledOperation::Kind::send) continue;
            sent += operation.bytes;
            longest = std::max(longest, operation.bytes);
        }
        json.value(sent);
    }
    json.end_array().member("longest_message_bytes", longest);
}

} // namespace

void print_schedule(const Options &options) {
    PluginCache cache;
    const std::string &path = options.plugins.front();
    const LoadedAlgorithm algorithm = load_algorithm(cache, path);
    ScheduledCall call = options.call;
    call.collective = algorithm.collective;
    if (const std::string reason = refusal(*algorithm.interface, call); !reason.empty())
        throw UsageError("collpress-core: plugin " + path + " cannot be asked for this: " + reason);
    const Schedule schedule = record_schedule(*algorithm.interface, call);
    Json json;
    json.begin_object().member("collective", name_of(call.collective));
    write_call(json, call);
    json.member("element_bytes", Recorder::element_bytes);
    write_verdict(json, schedule);
    json.key("operations").begin_array();
    for (std::size_t rank = 0; rank < schedule.by_rank.size(); ++rank) {
        for (const ScheduledOperation &operation : schedule.by_rank[rank]) {
            json.begin_object()
                .member("rank", rank)
                .member("step", operation.step)
                .member("kind", operation_name(operation.kind));
            json.key("peer");
            if (operation.peer < 0)
                json.null();
            else
                json.value(operation.peer);
            json.member("bytes", operation.bytes).end_object();
        }
    }
    json.end_array().end_object();
    std::printf("%s\n", json.text().c_str());
}

void print_check(const Options &options) {
    PluginCache cache;
    const LoadedAlgorithm algorithm = load_algorithm(cache, options.plugins.front());
    Json json;
    json.begin_object().member("collective", name_of(algorithm.collective));
    json.member("element_bytes", Recorder::element_bytes).key("calls").begin_array();
    const auto check = [&](const ScheduledCall &call) {
        const Schedule schedule = record_schedule(*algorithm.interface, call);
        json.begin_object();
        write_call(json, call);
        write_verdict(json, schedule);
        write_sent(json, schedule);
        json.end_object();
        return schedule.depends_on_nodes;
    };
    for (std::int32_t ranks = 1; ranks <= options.call.ranks; ++ranks) {
        for (ScheduledCall call : calls_on(ranks, algorithm)) {
            if (!check(call)) continue;
            for (const std::int32_t ranks_per_node : {1, 3}) {
                call.ranks_per_node = ranks_per_node;
                check(call);
            }
        }
    }
    json.end_array().end_object();
    std::printf("%s\n", json.text().c_str());
}

} // namespace collpress
