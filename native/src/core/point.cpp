#include "core/point.hpp"
#include "core/codec_parameters.hpp"

#include "collpress/clock.hpp"
#include "core/needs.hpp"
#include "core/operations.hpp"
#include "measure/buffer.hpp"
#include "measure/checksum.hpp"
#include "measure/flush.hpp"
#include "measure/overlap.hpp"
#include "measure/phases.hpp"
#include "measure/result_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace collpress {

namespace {

std::string digits(double number) {
    if (std::isnan(number)) return "nan"; // of either sign
    std::array<char, 40> text;
    std::snprintf(text.data(), text.size(), "%.9g", number);
    return text.data();
}

constexpr std::size_t most_steps_told = 64;

// Ends the point on all ranks with the verdict that they agreed on.
struct Ended {
    Verdict verdict;
};

class PointRun {
  public:
    PointRun(Session &session, const PlanPoint &point) : session_(session), point_(point), began_ns_(now_ns()) {}

    PointReport run() {
        try {
            load();
            prepare_codec();
            allocate();
            check_before();
            warm_up();
            time();
            check_after();
            account_codec();
            account_fidelity();
            attribute_phases();
            account_overlap();
            feed_back();
        } catch (const Ended &ended) {
            report_.verdict = ended.verdict;
        }
        leave_nothing();
        if (report_.verdict.ok()) judge();
        return std::move(report_);
    }

  private:
    template <typename Step>
    void together(Step &&step) {
        agree_on(attempt(std::forward<Step>(step)));
    }

    void agree_on(const Verdict &mine) {
        Verdict verdict = agree(session_.world, mine);
        if (!verdict.ok()) throw Ended{std::move(verdict)};
    }

    bool root() const { return session_.rank == 0; }
    bool uses_p2p() const { return point_.origin != Origin::library; }
    std::size_t ranks() const { return static_cast<std::size_t>(session_.size); }
    std::size_t rank() const { return static_cast<std::size_t>(session_.rank); }
    const Exchange &exchange() const { return data_->exchange(); }
    std::size_t contribution() const { return exchange().contribution(rank()); }

    void load() {
        report_.effective_algorithm = point_.algorithm;
        together([&] {
            if (point_.message_bytes % point_.dtype.bytes != 0) {
                throw PointError(Status::unsupported, std::to_string(point_.message_bytes) +
                                                          " bytes are no whole number of " +
                                                          std::string(point_.dtype.name) + " values");
            }
            if (point_.root >= ranks())
                throw PointError(Status::unsupported, "rank " + std::to_string(point_.root) + " cannot be root of " +
                                                          std::to_string(ranks()) + " ranks");
            if (point_.collective == Collective::pingpong && ranks() < 2)
                throw PointError(Status::unsupported, "pingpong needs at least 2 ranks");
            if (point_.cold && !flush_refusal().empty()) throw PointError(Status::unsupported, flush_refusal());
            if (uses_p2p()) load_algorithm();
            const MappedFile *file = point_.from_file ? &session_.data.open(point_.data_path) : nullptr;
            data_ = std::make_unique<DataSource>(point_, point_.exchange(ranks()), file);
            if (!uses_p2p()) {
                const std::string refusal = LibraryCall::refusal(exchange(), point_.dtype.id, point_.op);
                if (!refusal.empty()) throw PointError(Status::unsupported, refusal);
            }
        });
        refuse_start();
        report_.total_bytes = exchange().total_contribution() * point_.dtype.bytes;
        if (point_.from_file) report_.unique_bytes = unique_bytes(point_, exchange());
        if (uses_p2p())
            report_.known_by = "construction";
        else
            choose();
    }

    void refuse_start() {
        const std::string refusal = session_.starts.refusal(point_.sync);
        agree_on(refusal.empty() ? Verdict{} : Verdict{Status::unsupported, refusal});
    }

    void choose() {
        if (point_.nonblocking && point_.algorithm != "default") {
            agree_on({Status::unsupported, "an algorithm that is named holds for the library's blocking calls only; "
                                           "the non-blocking ones have library:default"});
        }
        // Collective, so outside attempt(); what it throws, all ranks throw.
        agree_on(attempt([&] {
            choice_ =
                &session_.library.choose(point_.collective, point_.algorithm, {point_.segment_bytes, point_.fanout});
        }));
        const bool starts_by_collective = point_.sync == Sync::barrier || point_.sync == Sync::window;
        if (starts_by_collective && choice_->algorithm.forced() && session_.library.holds_everywhere()) {
            agree_on({Status::unsupported, "what this library is told holds for all its collectives, those that would "
                                           "start the ranks too: use sync dissemination or none"});
        }
        const CallShape shape{point_.count(), point_.message_bytes, ranks(), point_.in_place};
        const std::string refusal = Library::refusal(*choice_, shape);
        agree_on(refusal.empty() ? Verdict{} : Verdict{Status::unsupported, refusal});
        const bool falls_back = session_.library.may_fall_back(*choice_, shape);
        report_.effective_algorithm = choice_->algorithm.name;
        report_.segment_bytes = choice_->segment_bytes;
        report_.fanout = choice_->fanout;
        report_.known_by = choice_->read_back && !falls_back ? "read back" : "unverified";
        if (!point_.proof.empty()) report_.known_by = point_.proof.c_str();
        report_.consistent_with = point_.consistent_with;
    }

    void load_algorithm() {
        const Plugin &plugin = session_.plugins.load(point_.plugin);
        algorithm_ = plugin.algorithm();
        const auto decline = [&](Status status, const std::string &why) {
            throw PointError(status, "algorithm " + point_.algorithm + " " + why);
        };
        if (algorithm_ == nullptr)
            decline(Status::failed, "is a " + std::string(plugin.kind_name()) + ": " + point_.plugin);
        if (algorithm_->collective != name_of(point_.collective))
            decline(Status::failed, std::string("is for ") + algorithm_->collective);
        const bool compresses = algorithm_->compresses != 0;
        if (compresses != (point_.origin == Origin::compressed)) {
            decline(Status::failed, compresses ? "compresses; ask for it as compressed:"
                                               : "does not compress; ask for it as reference:");
        }
        if (const std::string refusal = refusal_of(*algorithm_, point_, ranks()); !refusal.empty())
            decline(Status::unsupported, refusal);
    }

    // Data of all ranks decide what a relative bound means, so this comes before the codec.
    ValueRange range_of_all() const {
        const ValueRange own = value_range(*data_, rank());
        std::array<double, 2> extremes = {-own.minimum, own.maximum};
        MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_DOUBLE, MPI_MAX, session_.world);
        return {-extremes[0], extremes[1]};
    }

    void prepare_codec() {
        if (point_.origin != Origin::compressed) {
            together([&] { configure_p2p(); });
            return;
        }
        const ValueRange range = range_of_all();
        together([&] {
            const collpress_codec *codec = session_.plugins.load(point_.codec_plugin).codec();
            if (codec == nullptr)
                throw PointError(Status::failed, "codec " + point_.codec + " is no codec: " + point_.codec_plugin);
            const auto decline = [&](const std::string &why) {
                throw PointError(Status::unsupported, "codec " + point_.codec + " " + why);
            };
            if ((codec->dtypes & COLLPRESS_DTYPE_BIT(point_.dtype.id)) == 0)
                decline("does not support " + std::string(point_.dtype.name));
            if (const std::size_t count = parameters_of(*codec).size(); count != point_.codec_parameters.size()) {
                throw PointError(Status::failed, "codec " + point_.codec + " has " + std::to_string(count) +
                                                     " parameters, the plan gives " +
                                                     std::to_string(point_.codec_parameters.size()));
            }
            if (codec->takes_bound != 0 && point_.bound == Bound::none) decline("needs an error bound");
            if (codec->takes_bound == 0 && point_.bound != Bound::none) decline("takes no error bound");
            if (algorithm_->needs_add != 0 && (codec->extras == nullptr || codec->extras->add == nullptr))
                decline("cannot add streams, which the algorithm " + point_.algorithm + " needs");
            collpress_codec_config &config = codec_config_;
            config = {static_cast<std::uint32_t>(point_.dtype.id),
                      0,
                      point_.codec_parameters.data(),
                      point_.row,
                      point_.plane,
                      static_cast<std::uint32_t>(session_.rank)};
            if (point_.bound != Bound::none) {
                report_.asked_bound = absolute_bound(point_, range);
                config.abs_bound = bound_of_codec(point_, *algorithm_, session_.size, *report_.asked_bound, range);
                report_.abs_bound = config.abs_bound;
            }
            codec_ = std::make_unique<CodecContext>(codec, point_.codec, config);
            if (codec->max_bytes(codec_->get(), exchange().largest_contribution()) > MpiP2p::largest_message) {
                decline("may make streams of more than 2^30 bytes");
            }
            const DeclaredError declared(*codec_, config.abs_bound);
            codec_bound_ = algorithm_->error_bound(session_.size, point_.op, range.magnitude(),
                                                   DeclaredError::worst_error, &declared);
            if (declared.excess().has_value()) {
                throw PointError(Status::invalid, "codec " + point_.codec + " states a worst error above its bound: " +
                                                      digits(*declared.excess()) + " above " +
                                                      digits(declared.bound()));
            }
            configure_p2p();
        });
    }

    void configure_p2p() {
        session_.p2p.configure({point_.dtype.bytes, reduction_of(point_.dtype.id, point_.op), point_.op, codec_.get()});
    }

    void allocate() {
        together([&] {
            const auto available = available_memory();
            const double share = static_cast<double>(session_.ranks_on_host) / static_cast<double>(ranks());
            const double needed = share * static_cast<double>(CallBuffers::bytes_of_all(point_, exchange()));
            if (available >= 0 && needed > static_cast<double>(available)) {
                throw PointError(Status::out_of_memory,
                                 "the buffers of " + std::to_string(session_.ranks_on_host) + " ranks need " +
                                     std::to_string(static_cast<std::uint64_t>(needed)) + " bytes; this machine has " +
                                     std::to_string(available) + " available");
            }
            buffers_ = std::make_unique<CallBuffers>(point_, *data_, rank());
            operation_ = make_operation();
            sent_bits_ = checksum(buffers_->contribution(), contribution() * point_.dtype.bytes);
        });
    }

    std::unique_ptr<Operation> make_operation() {
        if (uses_p2p()) return std::make_unique<AlgorithmOperation>(session_.p2p, *algorithm_, *buffers_);
        const auto make = [&]<typename Kind>(std::type_identity<Kind>) {
            auto operation = std::make_unique<Kind>(session_.library, *choice_, exchange(), point_.dtype.bytes,
                                                    session_.rank, *buffers_);
            if (reduces(point_.collective))
                report_.operation = operation->user_operation() ? "user-defined" : "built-in";
            return operation;
        };
        if (!point_.nonblocking) return make(std::type_identity<LibraryOperation>());
        auto operation = make(std::type_identity<NonblockingOperation>());
        nonblocking_ = operation.get();
        return operation;
    }

    void check_before() {
        check_ = std::make_unique<ResultCheck>(*data_, point_.op, codec_bound_, session_.world);
        operation_->prepare(true);
        session_.barrier.wait();
        const std::int64_t start = now_ns();
        {
            const InUse in_use(*operation_);
            operation_->run();
        }
        session_.barrier.wait();
        first_call_s_ = static_cast<double>(now_ns() - start) * 1e-9;
        agree_on(operation_->verdict());
        if (uses_p2p()) agree_on(session_.p2p.settle());
        wire_bytes_ = session_.p2p.bytes_sent();
        const std::int64_t checking = now_ns();
        first_check_ = (*check_)(buffers_->recv());
        check_s_ = static_cast<double>(now_ns() - checking) * 1e-9;
    }

    // Whatever became of the point: what its algorithm left behind is the point's own fault, and nobody else's.
    void leave_nothing() {
        if (!uses_p2p()) return;
        const Verdict verdict = agree(session_.world, session_.p2p.settle());
        if (report_.verdict.ok()) report_.verdict = verdict;
    }

    double left_s() const { return point_.at_most_s - static_cast<double>(now_ns() - began_ns_) * 1e-9; }

    // Like everything that depends on time, rank 0 decides and all follow.
    std::size_t decided(std::size_t count) const {
        std::int64_t shared = static_cast<std::int64_t>(count);
        MPI_Bcast(&shared, 1, MPI_INT64_T, 0, session_.world);
        return static_cast<std::size_t>(shared);
    }

    // So many iterations, and for half of the time that measuring shall take at least; at most a quarter of the time
    // that is left. In growing blocks: the first calls on a communicator may be much slower than all others.
    void warm_up() {
        const std::int64_t start = now_ns();
        const double most_s = std::max(left_s(), 0.0) / 4;
        const double least_s = point_.at_least_s / 2;
        iteration_s_ = first_call_s_;
        while (true) {
            const double spent_s = static_cast<double>(now_ns() - start) * 1e-9;
            const auto fit = [&](double seconds) {
                const double iterations = (seconds - spent_s) / std::max(iteration_s_, 1e-9);
                return static_cast<std::size_t>(std::clamp(iterations, 0.0, 1e9));
            };
            const std::size_t missing = point_.warmup - std::min(point_.warmup, report_.warmup);
            const std::size_t grown = std::max<std::size_t>(2 * report_.warmup, 1);
            const std::size_t block = decided(std::min({std::max(missing, fit(least_s)), fit(most_s), grown}));
            if (block == 0) break;
            const std::int64_t began = now_ns();
            {
                const InUse in_use(*operation_);
                for (std::size_t i = 0; i < block; ++i) {
                    operation_->prepare(false);
                    session_.barrier.wait();
                    operation_->run();
                }
            }
            iteration_s_ = static_cast<double>(now_ns() - began) * 1e-9 / static_cast<double>(block);
            report_.warmup += block;
        }
        report_.measuring_s += static_cast<double>(now_ns() - start) * 1e-9;
    }

    void time() {
        const double later_s = check_s_ + iteration_s_ * static_cast<double>(uses_p2p() ? point_.instrumented : 0);
        const std::int64_t deadline =
            began_ns_ + static_cast<std::int64_t>((std::min(point_.at_most_s, 1e6) - later_s) * 1e9);
        const std::int64_t began = now_ns();
        Start &start = session_.starts.of(point_.sync);
        start.prepare();
        const NoiseCounters noise_before = noise_counters();
        const Usage before = usage_now();
        const Timings timings =
            time_iterations(session_.world, start, *operation_,
                            {point_.min_iterations, point_.max_iterations, point_.precision, deadline,
                             now_ns() + static_cast<std::int64_t>(point_.at_least_s / 2 * 1e9), iteration_s_});
        report_.measuring_s += static_cast<double>(now_ns() - began) * 1e-9;
        const Usage after = usage_now();
        const NoiseCounters noise_after = noise_counters();
        if (!timings.verdict.ok()) throw Ended{timings.verdict};
        const Usage used = usage_of_all(session_.world, before, after);
        const double mean_s = mean_over_ranks(session_.world, timings);
        std::optional<double> skew_s; // clocks of different machines cannot be compared
        if (session_.one_host()) skew_s = start_skew(session_.world, timings);
        std::optional<double> residual_s;
        if (start.clock() != nullptr) residual_s = start.clock()->residual() * 1e-9;
        int precise = timings.precise ? 1 : 0; // rank 0 knows
        MPI_Bcast(&precise, 1, MPI_INT, 0, session_.world);
        const double runs = static_cast<double>((timings.late + timings.start_ns.size()) * ranks());
        NoiseReport noise = judge_noise(session_.world, noise_before, noise_after,
                                        static_cast<double>(used.involuntary_switches) / runs, precise != 0);
        report_.samples = session_.samples.append(timings);
        if (root()) {
            report_.time = TimeReport{summarise(timings.slowest_s),
                                      timings.start_ns.size(),
                                      timings.stop_reason,
                                      std::move(noise),
                                      timings.late,
                                      residual_s,
                                      mean_s,
                                      skew_s,
                                      used};
        }
    }

    // Of every call since the buffers were made; outside of every timed region.
    Verdict untouched() const {
        const std::string outside = buffers_->written_outside();
        if (!outside.empty()) return {Status::invalid, "a call wrote outside of its buffers: " + outside};
        if (checksum(buffers_->contribution(), contribution() * point_.dtype.bytes) == sent_bits_) return {};
        const std::optional<ChangedElement> changed = changed_element(*data_, rank(), buffers_->contribution());
        if (!changed.has_value()) return {};
        return {Status::invalid, "a call changed its send buffer: element " + std::to_string(changed->index) +
                                     ": got " + digits(changed->got) + ", expected " + digits(changed->expected)};
    }

    void check_after() {
        untouched_ = agree(session_.world, untouched());
        const CheckResult last = (*check_)(buffers_->recv());
        if (!root()) return;
        const bool last_is_worse = last.worse_than(first_check_);
        if (last_is_worse) checked_call_ = "of the last timed iteration";
        report_.check = CheckReport{last_is_worse ? last : first_check_, codec_bound_, check_->identical()};
    }

    void attribute_phases() {
        if (!uses_p2p() || point_.instrumented == 0) return;
        const std::size_t fit =
            static_cast<std::size_t>(std::min(point_.at_most_s / 4 / std::max(iteration_s_, 1e-9), 1e9));
        const std::size_t iterations = decided(std::clamp<std::size_t>(fit, 1, point_.instrumented));
        const collpress_algorithm &tagged = tagged_algorithm();
        bool poison = true; // in the first iteration
        TaggedRuns runs = measure_phases(
            session_.world, session_.barrier, iterations, [&] { operation_->prepare(std::exchange(poison, false)); },
            [&] { return session_.p2p.run_tagged(tagged, buffers_->call()); });
        report_.trace = session_.traces.append(point_.key, runs.own);
        report_.phases = std::move(runs.report);
        agree_on(session_.p2p.verdict());
        note_steps();
        const CheckResult checked = (*check_)(buffers_->recv());
        if (!report_.check.has_value()) return; // rank 0 knows
        report_.check->identical = check_->identical();
        if (report_.check->result.wrong != 0 || checked.wrong == 0) return;
        checked_call_ = "of the pass with tags";
        report_.check->result = checked;
    }

    // What each step of the last tagged call sent. A step is the same for all ranks.
    void note_steps() {
        if (codec_ == nullptr) return;
        std::vector<std::uint64_t> bytes = session_.p2p.bytes_by_step();
        std::uint64_t steps = bytes.size();
        MPI_Allreduce(MPI_IN_PLACE, &steps, 1, MPI_UINT64_T, MPI_MAX, session_.world);
        bytes.resize(std::min<std::size_t>(steps, most_steps_told));
        MPI_Allreduce(MPI_IN_PLACE, bytes.data(), static_cast<int>(bytes.size()), MPI_UINT64_T, MPI_MAX,
                      session_.world);
        if (!report_.codec.has_value()) return; // rank 0 knows
        report_.codec->steps = steps;
        report_.codec->wire_bytes_by_step = std::move(bytes);
    }

    // The plugin of the same source that was compiled with its tags, where it has any.
    const collpress_algorithm &tagged_algorithm() {
        if (point_.tagged_plugin.empty()) return *algorithm_;
        const collpress_algorithm *tagged = nullptr;
        together([&] { tagged = session_.plugins.load(point_.tagged_plugin).algorithm(); });
        return tagged == nullptr ? *algorithm_ : *tagged;
    }

    // As many iterations as fit once more into half of the point's time, three kinds of them.
    void account_overlap() {
        if (nonblocking_ == nullptr) return;
        const double median = report_.time.has_value() ? report_.time->summary.median : 0; // rank 0 knows
        const std::size_t fit =
            static_cast<std::size_t>(std::clamp(point_.at_most_s / 2 / std::max(4 * iteration_s_, 1e-9), 3.0, 1000.0));
        const std::size_t iterations = decided(fit);
        {
            const InUse in_use(*operation_);
            report_.overlap = measure_overlap(
                session_.world, session_.barrier, iterations, median, [&] { operation_->prepare(false); },
                [&](const std::function<void()> &between) { nonblocking_->run(between); });
        }
        agree_on(operation_->verdict());
    }

    // Nobody needs the contributions any more. At most four times as long as the point may take.
    void feed_back() {
        if (point_.feedback == 0) return;
        std::unique_ptr<Feedback> feedback;
        together([&] { feedback = std::make_unique<Feedback>(*data_); });
        const std::int64_t began = now_ns();
        const auto run = [&] {
            operation_->prepare(false);
            session_.barrier.wait();
            {
                const InUse in_use(*operation_);
                operation_->run();
            }
            agree_on(operation_->verdict());
        };
        const auto go_on = [&] {
            return decided(static_cast<double>(now_ns() - began) * 1e-9 < 4 * point_.at_most_s ? 1 : 0) != 0;
        };
        FeedbackReport report =
            (*feedback)(session_.world, point_.feedback, buffers_->next_contribution(), buffers_->recv(), run, go_on);
        if (root()) report_.feedback = std::move(report);
    }

    // Rank 0's whole message in one stream; outside every timed region.
    void account_codec() {
        if (codec_ == nullptr) return;
        together([&] {
            if (!root()) return;
            // With a context of its own: what one remembers belongs to the calls.
            const CodecContext codec(codec_->operator->(), point_.codec, codec_config_);
            if (codec.extras().begin != nullptr) codec.extras().begin(codec.get());
            stream_ = Buffer(codec->max_bytes(codec.get(), contribution()));
            refuse_failure(codec->compress(codec.get(), buffers_->contribution(), contribution(), stream_.data(),
                                           stream_.size(), &stream_bytes_));
            report_.codec = CodecReport{contribution() * point_.dtype.bytes, stream_bytes_, wire_bytes_, {}, {}};
        });
    }

    void refuse_failure(collpress_codec_result result) const {
        if (result == COLLPRESS_CODEC_OK) return;
        throw PointError(Status::failed, "codec " + point_.codec + " " + codec_result_text(result));
    }

    // Rank 0's result and message through the metrics; outside every timed region. Where another rank is root, rank 0
    // may have neither.
    void account_fidelity() {
        if (point_.metrics.empty()) return;
        together([&] {
            if (!root()) return;
            const std::vector<AskedMetric> metrics = load_metrics();
            FidelityReport fidelity;
            fidelity.result =
                measure_fidelity(metrics,
                                 {exchange().result_elements(rank()),
                                  codec_bound_ + report_.check->result.rounding_bound, point_.row, point_.plane},
                                 result_pairs(*data_, point_.op, rank(), buffers_->recv()));
            if (codec_ != nullptr) fidelity.message = message_fidelity(metrics);
            report_.fidelity = std::move(fidelity);
        });
    }

    SubjectReport message_fidelity(const std::vector<AskedMetric> &metrics) const {
        const Buffer decompressed(contribution() * point_.dtype.bytes);
        refuse_failure(
            (*codec_)->decompress(codec_->get(), stream_.data(), stream_bytes_, decompressed.data(), contribution()));
        const DeclaredError declared(*codec_, report_.abs_bound.value_or(0));
        const double magnitude = value_range(*data_, rank()).magnitude();
        return measure_fidelity(
            metrics, {contribution(), DeclaredError::worst_error(&declared, magnitude), point_.row, point_.plane},
            message_pairs(buffers_->contribution(), decompressed.data(), point_.dtype.id));
    }

    // A metric that cannot be loaded costs nothing but its own values.
    std::vector<AskedMetric> load_metrics() const {
        std::vector<AskedMetric> metrics;
        for (const std::string &path : point_.metrics) {
            AskedMetric &metric = metrics.emplace_back(AskedMetric{plugin_name(path), nullptr, ""});
            try {
                const Plugin &plugin = session_.plugins.load(path);
                metric.interface = plugin.metric();
                if (metric.interface == nullptr)
                    metric.problem = std::string("it is no metric, but of kind ") + plugin.kind_name();
            } catch (const PluginError &error) {
                metric.problem = error.what();
            }
        }
        return metrics;
    }

    void judge() {
        if (!report_.check.has_value()) return;
        const CheckResult &result = report_.check->result;
        if (result.wrong == 0 && result.unbounded != 0) {
            report_.verdict = {Status::failed, "the codec states no finite bound for these values, so the result "
                                               "cannot be checked"};
        }
        if (!untouched_.ok()) report_.verdict = untouched_;
        if (result.wrong == 0) return;
        const std::string touched = untouched_.ok() ? "" : untouched_.reason + "; ";
        report_.verdict = {Status::invalid,
                           touched + "the result " + checked_call_ + " is wrong in " + std::to_string(result.wrong) +
                               " elements over all ranks; the worst: rank " + std::to_string(result.worst_rank) +
                               ", element " + std::to_string(result.worst_index) + ": got " + digits(result.worst_got) +
                               ", expected " + digits(result.worst_expected) + " within " +
                               digits(result.worst_allowed)};
    }

    Session &session_;
    const PlanPoint &point_;
    const std::int64_t began_ns_;
    PointReport report_;
    const collpress_algorithm *algorithm_ = nullptr;
    const LibraryChoice *choice_ = nullptr; // of the library's algorithms; null for the others
    std::unique_ptr<DataSource> data_;
    collpress_codec_config codec_config_{};
    std::unique_ptr<CodecContext> codec_;
    double codec_bound_ = 0;
    std::unique_ptr<CallBuffers> buffers_;
    std::unique_ptr<Operation> operation_;
    NonblockingOperation *nonblocking_ = nullptr; // the operation, where it is one
    std::unique_ptr<ResultCheck> check_;
    CheckResult first_check_;
    const char *checked_call_ = "of the check before timing"; // whose result is reported
    std::uint64_t sent_bits_ = 0;                             // a checksum of the contribution, before any call
    Verdict untouched_;
    std::size_t wire_bytes_ = 0;
    Buffer stream_; // rank 0's message, compressed
    std::size_t stream_bytes_ = 0;
    double first_call_s_ = 0;
    double iteration_s_ = 0;
    double check_s_ = 0;
};

} // namespace

PointReport measure_point(Session &session, const PlanPoint &point) { return PointRun(session, point).run(); }

} // namespace collpress
