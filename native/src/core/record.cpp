#include "core/record.hpp"

#include "core/json.hpp"
#include "measure/data.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>

namespace collpress {

namespace {

constexpr int schema = 1;
constexpr double missing = std::numeric_limits<double>::quiet_NaN(); // written as null

template <typename Number>
void write_optional(Json &json, const char *key, const std::optional<Number> &number) {
    json.key(key);
    if (number.has_value())
        json.value(*number);
    else
        json.null();
}

void write_times(Json &json, const std::optional<TimeReport> &time) {
    if (!time.has_value()) {
        json.member("n", 0)
            .member_null("stop_reason")
            .member_null("time_s")
            .member_null("mean_over_ranks_s")
            .member_null("start_skew_s")
            .member_null("late")
            .member_null("clock_residual_s")
            .member_null("noise");
        return;
    }
    const Summary &s = time->summary;
    json.member("n", time->iterations).member("stop_reason", time->stop_reason).key("time_s").begin_object();
    json.member("median", s.median)
        .member("ci_low", s.interval.has_value() ? s.interval->low : missing)
        .member("ci_high", s.interval.has_value() ? s.interval->high : missing)
        .member("min", s.minimum)
        .member("p05", s.p05)
        .member("p25", s.p25)
        .member("p75", s.p75)
        .member("p95", s.p95)
        .member("p99", s.p99)
        .member("max", s.maximum)
        .member("mean", s.mean)
        .member("sd", s.deviation.value_or(missing))
        .member("mad", s.absolute_deviation)
        .end_object();
    json.member("mean_over_ranks_s", time->mean_over_ranks_s)
        .member("start_skew_s", time->start_skew_s.value_or(missing))
        .member("late", time->late)
        .member("clock_residual_s", time->clock_residual_s.value_or(missing));
    const NoiseReport &noise = time->noise;
    json.key("noise").begin_object().member("cpu_pressure", noise.cpu_pressure.value_or(missing));
    json.member("steal", noise.steal.value_or(missing)).member("preemptions", noise.preemptions);
    json.key("reasons").begin_array();
    for (const std::string &reason : noise.reasons) json.value(reason);
    json.end_array().end_object();
}

void write_phases(Json &json, const std::optional<PhaseReport> &phases) {
    json.key("phases_s");
    if (!phases.has_value()) {
        json.null();
        return;
    }
    json.begin_object().member("iterations", phases->iterations).member("rank", phases->rank);
    json.member("total", phases->total_s);
    for (std::size_t i = 0; i < part_names.size(); ++i) json.member(part_names[i], phases->part_s[i]);
    json.member("other", phases->other_s).key("phases").begin_array();
    for (const PhaseReport::Phase &phase : phases->phases) {
        json.begin_object().member("name", phase.name).member("total", phase.total_s);
        for (std::size_t i = 0; i < part_names.size(); ++i) json.member(part_names[i], phase.part_s[i]);
        json.end_object();
    }
    json.end_array().end_object();
}

void write_overlap(Json &json, const std::optional<OverlapReport> &overlap) {
    json.key("overlap");
    if (!overlap.has_value()) {
        json.null();
        return;
    }
    json.begin_object()
        .member("iterations", overlap->iterations)
        .member("pure_s", overlap->pure_s)
        .member("compute_s", overlap->compute_s)
        .member("overlapped_s", overlap->overlapped_s)
        .member("omb_percent", overlap->omb_percent())
        .member("imb_percent", overlap->imb_percent())
        .end_object();
}

void write_codec(Json &json, const std::optional<CodecReport> &codec) {
    json.key("codec");
    if (!codec.has_value()) {
        json.null();
        return;
    }
    const bool has_ratio = codec->compressed_bytes != 0 && codec->raw_bytes != 0;
    json.begin_object()
        .member("raw_bytes", codec->raw_bytes)
        .member("compressed_bytes", codec->compressed_bytes)
        .member("ratio", has_ratio
                             ? static_cast<double>(codec->raw_bytes) / static_cast<double>(codec->compressed_bytes)
                             : missing)
        .member("wire_bytes", codec->wire_bytes);
    write_optional(json, "steps", codec->steps);
    json.key("wire_bytes_by_step").begin_array();
    for (const std::uint64_t bytes : codec->wire_bytes_by_step) json.value(bytes);
    json.end_array().end_object();
}

void write_check(Json &json, const std::optional<CheckReport> &check) {
    json.key("check");
    if (!check.has_value()) {
        json.null();
        return;
    }
    const CheckResult &result = check->result;
    const bool compared = result.compared != 0;
    const double mean_square = result.error_squares / static_cast<double>(result.compared);
    const double psnr = 20 * std::log10(result.value_range()) - 10 * std::log10(mean_square);
    json.begin_object()
        .member("max_abs_error", compared ? result.max_abs_error : missing)
        .member("bound", check->codec_bound)
        .member("rounding_bound", compared ? result.rounding_bound : missing)
        .member("mean_error", compared ? result.error_sum / static_cast<double>(result.compared) : missing)
        .member("value_range", compared ? result.value_range() : missing)
        .member("psnr_db", compared ? psnr : missing);
    write_optional(json, "identical", check->identical);
    json.key("worst");
    if (result.has_worst == 0) {
        json.null();
    } else {
        json.begin_object()
            .member("rank", result.worst_rank)
            .member("index", result.worst_index)
            .member("expected", result.worst_expected)
            .member("got", result.worst_got)
            .end_object();
    }
    json.end_object();
}

void write_subject(Json &json, const SubjectReport &subject) {
    json.begin_object().member("bound", subject.bound).key("bound_ok");
    if (std::isnan(subject.bound))
        json.null();
    else
        json.value(subject.beyond == 0);
    json.member("left_out", subject.left_out);
    json.key("metrics").begin_object();
    for (const MetricReport &metric : subject.metrics) {
        json.key(metric.name).begin_object();
        for (const auto &[name, value] : metric.values) json.member(name, value);
        json.end_object();
    }
    json.end_object().key("problems").begin_object();
    for (const MetricReport &metric : subject.metrics) {
        if (!metric.problem.empty()) json.member(metric.name, metric.problem);
    }
    json.end_object().end_object();
}

void write_fidelity(Json &json, const std::optional<FidelityReport> &fidelity) {
    json.key("fidelity");
    if (!fidelity.has_value()) {
        json.null();
        return;
    }
    json.begin_object().key("message");
    if (fidelity->message.has_value())
        write_subject(json, *fidelity->message);
    else
        json.null();
    json.key("result");
    write_subject(json, fidelity->result);
    json.end_object();
}

void write_feedback(Json &json, const std::optional<FeedbackReport> &feedback) {
    json.key("feedback");
    if (!feedback.has_value()) {
        json.null();
        return;
    }
    json.begin_object()
        .member("asked", feedback->asked)
        .member("done", feedback->done)
        .member("compared", feedback->compared)
        .member("value_range", feedback->value_range);
    const auto column = [&](const char *name, auto FeedbackRound::*field) {
        json.key(name).begin_array();
        for (const FeedbackRound &round : feedback->rounds) json.value(round.*field);
        json.end_array();
    };
    column("round", &FeedbackRound::round);
    column("max_abs_error", &FeedbackRound::max_abs_error);
    column("nrmse", &FeedbackRound::nrmse);
    column("bias", &FeedbackRound::bias);
    column("lost", &FeedbackRound::lost);
    json.end_object();
}

void write_resources(Json &json, const std::optional<TimeReport> &time) {
    json.key("resources");
    if (!time.has_value()) {
        json.null();
        return;
    }
    json.begin_object()
        .member("max_rss_bytes", time->usage.max_rss_bytes)
        .member("voluntary_switches", time->usage.voluntary_switches)
        .member("involuntary_switches", time->usage.involuntary_switches)
        .end_object();
}

void write_entry(Json &json, const char *key, const std::optional<SamplesEntry> &samples) {
    json.key(key);
    if (!samples.has_value()) {
        json.null();
        return;
    }
    json.begin_object()
        .member("file", samples->file)
        .member("offset", samples->offset)
        .member("bytes", samples->bytes)
        .member("sha256", samples->sha256)
        .end_object();
}

} // namespace

std::string utc_now() {
    const auto now = std::chrono::system_clock::now();
    const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
    const auto seconds = static_cast<std::time_t>(microseconds / 1'000'000);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 40> text;
    const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    std::snprintf(text.data() + length, text.size() - length, ".%06dZ", static_cast<int>(microseconds % 1'000'000));
    return text.data();
}

std::string mark_line(const char *kind, const LaunchIdentity &launch, const std::string &key) {
    Json json;
    json.begin_object().member("kind", kind).member("schema", schema);
    if (!key.empty()) json.member("key", key);
    json.member("launch", launch.launch).member("attempt", launch.attempt).member("utc", utc_now()).end_object();
    return json.text();
}

std::string record_line(const LaunchIdentity &launch, const PlanPoint &point, const PointReport &report,
                        std::size_t order, double elapsed_s) {
    Json json;
    json.begin_object()
        .member("kind", "record")
        .member("schema", schema)
        .member("key", point.key)
        .member("id", point.id);
    json.member("launch", launch.launch)
        .member("attempt", launch.attempt)
        .member("order", order)
        .member("utc", utc_now());
    json.member("elapsed_s", elapsed_s)
        .member("by", "core")
        .member("status", status_name(report.verdict.status))
        .key("reason");
    if (report.verdict.ok())
        json.null();
    else
        json.value(report.verdict.reason);
    json.member("noisy", report.time.has_value() && !report.time->noise.reasons.empty());

    json.key("requested").begin_object();
    for (const auto &[key, value] : point.entries) json.member(key, value);
    json.end_object();
    json.key("effective").begin_object();
    json.member("algorithm", report.effective_algorithm).member("known_by", report.known_by);
    json.member("abs_bound", report.abs_bound.value_or(missing))
        .member("asked_bound", report.asked_bound.value_or(missing));
    write_optional(json, "segment_bytes", report.segment_bytes);
    write_optional(json, "fanout", report.fanout);
    json.key("consistent_with");
    if (report.consistent_with.empty()) {
        json.null();
    } else {
        json.begin_array();
        for (const std::string &name : report.consistent_with) json.value(name);
        json.end_array();
    }
    json.key("operation");
    if (report.operation != nullptr)
        json.value(report.operation);
    else
        json.null();
    json.end_object();

    json.member("count", point.count())
        .member("message_bytes", point.message_bytes)
        .member("total_bytes", report.total_bytes);
    write_optional(json, "unique_bytes", report.unique_bytes);
    json.member("warmup", report.warmup).member("measuring_s", report.measuring_s);
    write_times(json, report.time);
    write_phases(json, report.phases);
    write_overlap(json, report.overlap);
    write_codec(json, report.codec);
    write_check(json, report.check);
    write_fidelity(json, report.fidelity);
    write_feedback(json, report.feedback);
    write_resources(json, report.time);
    write_entry(json, "samples", report.samples);
    write_entry(json, "trace", report.trace);
    json.end_object();
    return json.text();
}

} // namespace collpress
