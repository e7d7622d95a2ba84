// Open MPI: the control variables of its component `tuned`, read by each communicator when it is made. So every
// algorithm gets a communicator of its own, made while the variables say so, with `tuned` preferred over the other
// components (with several hosts `han` would answer otherwise and ignore the request).
#include "backends/mpi/controls.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace collpress {

namespace {

// What `tuned` does with an algorithm, which its variables do not tell.
struct TunedAlgorithm {
    Collective collective;
    std::string_view name;
    bool segments;
    std::string_view fanout; // the end of the variable's name; empty: none
    LibraryNeeds needs;
};

constexpr LibraryNeeds pairs_only = {.exactly_ranks = 2};
constexpr LibraryNeeds apart = {.in_place = false};
constexpr LibraryNeeds powers_of_two = {.power_of_two_ranks = true};
constexpr LibraryNeeds even_numbers = {.even_ranks = true};
constexpr LibraryNeeds blocks = {.count_at_least_ranks = true};
constexpr LibraryNeeds commutative = {.commutative = true};
constexpr LibraryNeeds commutative_blocks = {.count_at_least_ranks = true, .commutative = true};

// Seen in the traffic of Open MPI 5.0: what segments and fan-outs change, and what it runs where a need is not met. The
// segment size of gather's linear_sync is left out: it is that of the first of two messages, and bounds none.
constexpr std::array tuned_algorithms = {
    TunedAlgorithm{Collective::allreduce, "ring", false, "", commutative_blocks},
    TunedAlgorithm{Collective::allreduce, "segmented_ring", true, "", commutative_blocks},
    TunedAlgorithm{Collective::allreduce, "rabenseifner", false, "", commutative_blocks},
    TunedAlgorithm{Collective::reduce, "chain", true, "_chain_fanout", {}},
    TunedAlgorithm{Collective::reduce, "pipeline", true, "", {}},
    TunedAlgorithm{Collective::reduce, "binary", true, "", {}},
    TunedAlgorithm{Collective::reduce, "binomial", true, "", {}},
    TunedAlgorithm{Collective::reduce, "in-order_binary", true, "", {}},
    TunedAlgorithm{Collective::reduce, "rabenseifner", false, "", commutative_blocks},
    TunedAlgorithm{Collective::reduce_scatter, "recursive_halving", false, "", commutative},
    TunedAlgorithm{Collective::reduce_scatter, "ring", false, "", commutative},
    TunedAlgorithm{Collective::allgather, "recursive_doubling", false, "", powers_of_two},
    TunedAlgorithm{Collective::allgather, "neighbor", false, "", even_numbers},
    TunedAlgorithm{Collective::allgather, "two_proc", false, "", pairs_only},
    TunedAlgorithm{Collective::allgatherv, "neighbor", false, "", even_numbers},
    TunedAlgorithm{Collective::allgatherv, "two_proc", false, "", pairs_only},
    TunedAlgorithm{Collective::alltoall, "linear", false, "", apart},
    TunedAlgorithm{Collective::alltoall, "pairwise", false, "", apart},
    TunedAlgorithm{Collective::alltoall, "modified_bruck", false, "", apart},
    TunedAlgorithm{Collective::alltoall, "linear_sync", false, "", apart},
    TunedAlgorithm{Collective::alltoall, "two_proc", false, "", {.exactly_ranks = 2, .in_place = false}},
    TunedAlgorithm{Collective::bcast, "chain", true, "_chain_fanout", {}},
    TunedAlgorithm{Collective::bcast, "pipeline", true, "", {}},
    TunedAlgorithm{Collective::bcast, "split_binary_tree", true, "", {}},
    TunedAlgorithm{Collective::bcast, "binary_tree", true, "", {}},
    TunedAlgorithm{Collective::bcast, "binomial", true, "", {}},
    TunedAlgorithm{Collective::bcast, "knomial", true, "_knomial_radix", {}},
    TunedAlgorithm{Collective::bcast, "scatter_allgather", false, "", blocks},
    TunedAlgorithm{Collective::bcast, "scatter_allgather_ring", false, "", blocks},
    TunedAlgorithm{Collective::barrier, "two_proc", false, "", pairs_only}};

const TunedAlgorithm *known(Collective collective, std::string_view name) {
    const auto *found = std::ranges::find_if(tuned_algorithms, [&](const TunedAlgorithm &algorithm) {
        return algorithm.collective == collective && algorithm.name == name;
    });
    return found == tuned_algorithms.end() ? nullptr : found;
}

// The variables of one collective. What they held before is put back after each use.
class TunedVariables {
  public:
    explicit TunedVariables(Collective collective)
        : collective_(collective), name_("coll_tuned_" + std::string(name_of(collective)) + "_algorithm") {
        algorithm_.open(name_);
        segment_.open(name_ + segment_end);
        segment_before_ = segment_.read();
        for (std::size_t i = 0; i < fanouts.size(); ++i) {
            fanout_[i].open(name_ + std::string(fanouts[i]));
            fanout_before_[i] = fanout_[i].read();
        }
    }

    bool is_writable() const { return algorithm_.is_writable(); }
    bool is_open() const { return algorithm_.is_open(); }
    const std::string &name() const { return name_; }

    std::vector<LibraryAlgorithm> algorithms() const {
        std::vector<LibraryAlgorithm> found;
        if (!is_writable()) return found;
        for (const NamedValue &value : algorithm_.values()) {
            if (value.number == 0) continue; // leaves the choice to the library
            LibraryAlgorithm &algorithm = found.emplace_back(LibraryAlgorithm{value.name, value.number});
            const TunedAlgorithm *tuned = known(collective_, value.name);
            if (tuned == nullptr) continue;
            algorithm.segments = tuned->segments && segment_.is_writable();
            const ControlVariable *fanout = fanout_of(algorithm);
            if (fanout != nullptr && fanout->is_writable()) algorithm.least_fanout = tuned->fanout == radix ? 2 : 1;
            algorithm.needs = tuned->needs;
        }
        return found;
    }

    Verdict write(const LibraryAlgorithm &algorithm, const LibrarySettings &settings) const {
        Verdict verdict = write(algorithm_, name_, static_cast<std::size_t>(algorithm.id), algorithm.name);
        if (!verdict.ok()) return verdict;
        if (settings.segment_bytes.has_value()) {
            Verdict segment = write(segment_, name_ + segment_end, *settings.segment_bytes, algorithm.name);
            if (!segment.ok()) return segment;
        }
        return write_fanout(algorithm, settings);
    }

    // The radix of the knomial tree is read by each call, everything else when a communicator is made.
    Verdict write_fanout(const LibraryAlgorithm &algorithm, const LibrarySettings &settings) const {
        if (!settings.fanout.has_value()) return {};
        const std::string variable = name_ + std::string(known(collective_, algorithm.name)->fanout);
        return write(*fanout_of(algorithm), variable, *settings.fanout, algorithm.name);
    }

    void put_back() const {
        if (algorithm_.is_writable()) algorithm_.write(0);
        if (segment_.is_writable()) segment_.write(segment_before_);
        for (std::size_t i = 0; i < fanouts.size(); ++i) {
            if (fanout_[i].is_writable()) fanout_[i].write(fanout_before_[i]);
        }
    }

  private:
    static constexpr const char *segment_end = "_segmentsize";
    static constexpr std::string_view radix = "_knomial_radix"; // 1 would hang
    static constexpr std::array<std::string_view, 2> fanouts = {"_chain_fanout", radix};

    const ControlVariable *fanout_of(const LibraryAlgorithm &algorithm) const {
        const TunedAlgorithm *tuned = known(collective_, algorithm.name);
        const auto *found = std::ranges::find(fanouts, tuned == nullptr ? std::string_view() : tuned->fanout);
        return found == fanouts.end() ? nullptr : &fanout_[static_cast<std::size_t>(found - fanouts.begin())];
    }

    static Verdict write(const ControlVariable &variable, const std::string &name, std::size_t value,
                         const std::string &algorithm) {
        const bool fits = value <= static_cast<std::size_t>(std::numeric_limits<int>::max());
        if (fits && variable.write(static_cast<int>(value))) return {};
        return {Status::unsupported,
                "the library refuses " + name + " = " + std::to_string(value) + " (" + algorithm + ")"};
    }

    Collective collective_;
    std::string name_;
    ControlVariable algorithm_;
    ControlVariable segment_;
    int segment_before_ = 0;
    std::array<ControlVariable, fanouts.size()> fanout_;
    std::array<int, fanouts.size()> fanout_before_{};
};

class OpenMpiControls : public Controls {
  public:
    OpenMpiControls() {
        rules_.open(rules_name);
        for (std::size_t i = 0; i < collective_names.size(); ++i)
            variables_.push_back(std::make_unique<TunedVariables>(static_cast<Collective>(i)));
    }

    bool usable() const { return (rules_.is_writable() || always_rules()) && of(Collective::allreduce).is_writable(); }
    const char *name() const override { return "openmpi"; }

    std::vector<LibraryAlgorithm> algorithms(Collective collective) const override {
        return of(collective).algorithms();
    }

    std::string obstacle(Collective collective) const override {
        const TunedVariables &variables = of(collective);
        if (!variables.is_open() || variables.is_writable()) return "";
        return variables.name() + " cannot be set in a process that runs";
    }

    LibraryChoice choose(MPI_Comm world, Collective collective, const LibraryAlgorithm &algorithm,
                         const LibrarySettings &asked) override {
        const TunedVariables &variables = of(collective);
        LibrarySettings settings = asked;
        if (needs_segments(algorithm) && !settings.segment_bytes.has_value()) settings.segment_bytes = usual_segment;
        LibraryChoice choice;
        Verdict written;
        if (!always_rules() && !rules_.write(algorithm.forced() ? 1 : 0))
            written = {Status::unsupported, std::string("the library refuses to set ") + rules_name};
        else if (algorithm.forced())
            written = variables.write(algorithm, settings);
        written = agree(world, written); // a communicator is made by all or by none
        if (written.ok()) {
            MPI_Info info = MPI_INFO_NULL;
            MPI_Info_create(&info);
            if (algorithm.forced()) MPI_Info_set(info, "ompi_comm_coll_preference", "tuned");
            MPI_Comm_dup_with_info(world, info, &choice.comm);
            MPI_Info_free(&info);
            choice.read_back = true; // by each write
            choice.segment_bytes = settings.segment_bytes;
            choice.fanout = settings.fanout;
        }
        // What other communicators are made from now on is not affected.
        variables.put_back();
        if (!always_rules()) rules_.write(0);
        if (!written.ok()) throw PointError(written.status, written.reason);
        return choice;
    }

    bool engage(const LibraryChoice &choice) override {
        engaged_ = choice.fanout.has_value() ? &of(choice.collective) : nullptr;
        return engaged_ == nullptr || engaged_->write_fanout(choice.algorithm, {{}, choice.fanout}).ok();
    }

    void release() override {
        if (engaged_ != nullptr) engaged_->put_back();
        engaged_ = nullptr;
    }

    // Where a need is not met the algorithms silently fall back to others; with less than a segment for each rank (or a
    // part of its own) the segmented ones run without segments.
    bool may_fall_back(const LibraryChoice &choice, const CallShape &call) const override {
        if (!choice.algorithm.forced()) return false;
        if (!unmet(choice.algorithm.needs, call).empty()) return true;
        return call.bytes < call.ranks * choice.segment_bytes.value_or(0);
    }

    bool refuses_algorithm(int error) const override {
        int kind = MPI_SUCCESS;
        MPI_Error_class(error, &kind);
        return kind == MPI_ERR_UNSUPPORTED_OPERATION;
    }

  private:
    static constexpr const char *rules_name = "coll_tuned_use_dynamic_rules";
    static constexpr std::size_t usual_segment = 65536;

    // Without a segment size the library runs the algorithm that has no segments under these names.
    static bool needs_segments(const LibraryAlgorithm &algorithm) {
        return algorithm.segments && (algorithm.name.starts_with("segmented") || algorithm.name == "pipeline");
    }

    // Open MPI 4.1 reads this when it starts and no more. Rules without an algorithm leave the choice to the library.
    bool always_rules() const { return rules_.is_open() && !rules_.is_writable() && rules_.read() == 1; }

    const TunedVariables &of(Collective collective) const { return *variables_[static_cast<std::size_t>(collective)]; }

    ControlVariable rules_;
    std::vector<std::unique_ptr<TunedVariables>> variables_;
    const TunedVariables *engaged_ = nullptr;
};

} // namespace

std::unique_ptr<Controls> openmpi_controls() {
    auto controls = std::make_unique<OpenMpiControls>();
    if (!controls->usable()) return nullptr;
    return controls;
}

} // namespace collpress
