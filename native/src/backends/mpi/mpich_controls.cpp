// MPICH: control variables that hold for every communicator from the moment they are written. So they are written
// before the calls that they are meant for, and put back after them.
//
// Three of them at least, for the algorithm alone would not do: after a few calls on a communicator MPICH's device
// takes a collective over with shared memory and asks for no algorithm, and an algorithm that cannot be used for a call
// is replaced silently. Both are switched off where an algorithm is asked for; a call that it cannot serve then fails.
#include "backends/mpi/controls.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <map>
#include <string_view>

namespace collpress {

namespace {

// What MPICH's variables do not tell of an algorithm: the ends of the names of variables that it heeds, and its needs.
struct MpichAlgorithm {
    Collective collective;
    std::string_view name;
    std::string_view fanout;
    std::string_view segment;
    LibraryNeeds needs;
};

constexpr LibraryNeeds power_of_two_only = {.power_of_two_ranks = true};
constexpr LibraryNeeds equal_blocks_or_abort = {
    .power_of_two_ranks = true, .count_multiple_of_ranks = true, .aborts = true};
constexpr LibraryNeeds apart_only = {.in_place = false};
constexpr LibraryNeeds in_place_only = {.in_place = true};
constexpr LibraryNeeds commuting = {.commutative = true};

constexpr std::array mpich_algorithms = {
    MpichAlgorithm{Collective::allreduce, "recursive_multiplying", "RECURSIVE_MULTIPLYING_KVAL", "", commuting},
    MpichAlgorithm{Collective::allreduce, "tree", "TREE_KVAL", "TREE_PIPELINE_CHUNK_SIZE", commuting},
    MpichAlgorithm{Collective::allreduce, "recexch", "RECEXCH_KVAL", "", commuting},
    MpichAlgorithm{Collective::allreduce, "ring", "", "", commuting},
    MpichAlgorithm{Collective::allreduce, "reduce_scatter_allgather", "", "", commuting},
    MpichAlgorithm{Collective::allreduce, "k_reduce_scatter_allgather", "", "", commuting},
    MpichAlgorithm{Collective::reduce, "reduce_scatter_gather", "", "", commuting},
    MpichAlgorithm{Collective::reduce_scatter, "noncommutative", "", "", equal_blocks_or_abort},
    MpichAlgorithm{Collective::reduce_scatter, "pairwise", "", "", commuting},
    MpichAlgorithm{Collective::reduce_scatter, "recursive_halving", "", "", commuting},
    MpichAlgorithm{Collective::allgather, "k_brucks", "BRUCKS_KVAL", "", {}},
    MpichAlgorithm{Collective::allgather, "recursive_doubling", "", "", power_of_two_only},
    MpichAlgorithm{Collective::allgather, "recexch_doubling", "RECEXCH_KVAL", "", {}},
    MpichAlgorithm{Collective::allgather, "recexch_halving", "RECEXCH_KVAL", "", {}},
    MpichAlgorithm{Collective::allgatherv, "recursive_doubling", "", "", power_of_two_only},
    MpichAlgorithm{Collective::alltoall, "brucks", "", "", apart_only},
    MpichAlgorithm{Collective::alltoall, "k_brucks", "BRUCKS_KVAL", "", apart_only},
    MpichAlgorithm{Collective::alltoall, "pairwise", "", "", apart_only},
    MpichAlgorithm{Collective::alltoall, "pairwise_sendrecv_replace", "", "", in_place_only},
    MpichAlgorithm{Collective::alltoall, "scattered", "", "", apart_only},
    MpichAlgorithm{Collective::alltoallv, "pairwise_sendrecv_replace", "", "", in_place_only},
    MpichAlgorithm{Collective::bcast, "tree", "TREE_KVAL", "", {}},
    MpichAlgorithm{Collective::bcast, "pipelined_tree", "TREE_KVAL", "TREE_PIPELINE_CHUNK_SIZE", {}},
    MpichAlgorithm{Collective::barrier, "k_dissemination", "DISSEM_KVAL", "", {}},
    MpichAlgorithm{Collective::barrier, "recexch", "RECEXCH_KVAL", "", {}}};

std::string prefix_of(Collective collective) {
    std::string name = "MPIR_CVAR_";
    for (const char letter : name_of(collective)) {
        name += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    }
    return name + "_";
}

// A variable, and what the environment may have set: that holds whenever nothing is asked for.
struct RememberedVariable {
    std::string name;
    ControlVariable variable;
    int before = 0;
};

class MpichControls : public Controls {
  public:
    MpichControls() {
        for (const Collective collective : collectives()) open(prefix_of(collective) + algorithm_end);
        for (const MpichAlgorithm &known : mpich_algorithms) {
            for (const std::string_view end : {known.fanout, known.segment}) {
                if (!end.empty()) open(prefix_of(known.collective) + std::string(end));
            }
        }
        open(device_name);
        open(fallback_name);
        no_device_ = of(device_name).value("none").value_or(-1);
        strict_ = of(fallback_name).value("error").value_or(-1);
    }

    bool usable() const {
        const ControlVariable &allreduce = algorithm_of(Collective::allreduce);
        return allreduce.is_open() && allreduce.value("auto") == 0 && no_device_ >= 0 && strict_ >= 0;
    }
    const char *name() const override { return "mpich"; }

    std::vector<LibraryAlgorithm> algorithms(Collective collective) const override {
        std::vector<LibraryAlgorithm> found;
        const ControlVariable &variable = algorithm_of(collective);
        if (!variable.is_open() || variable.value("auto") != 0) return found;
        for (const NamedValue &value : variable.values()) {
            if (std::ranges::find(no_algorithms, value.name) != no_algorithms.end()) continue;
            const MpichAlgorithm *known = find(collective, value.name);
            const bool serves =
                known == nullptr || !known->needs.in_place.value_or(false) || knows_in_place(collective);
            if (!serves) continue;
            LibraryAlgorithm &algorithm = found.emplace_back(LibraryAlgorithm{value.name, value.number});
            if (known == nullptr) continue;
            if (heeds(collective, known->fanout)) algorithm.least_fanout = 2;
            algorithm.segments = heeds(collective, known->segment);
            algorithm.needs = known->needs;
        }
        return found;
    }

    LibraryChoice choose(MPI_Comm world, Collective collective, const LibraryAlgorithm &algorithm,
                         const LibrarySettings &settings) override {
        LibraryChoice choice;
        choice.collective = collective;
        choice.algorithm = algorithm;
        choice.segment_bytes = settings.segment_bytes;
        choice.fanout = settings.fanout;
        std::string refused;
        choice.read_back =
            write(choice, refused) && (!exists(collective) || algorithm_of(collective).read() == algorithm.id);
        release();
        Verdict written;
        if (algorithm.forced() && !choice.read_back) {
            written = {Status::unsupported, "the library refuses " + refused + " (" + algorithm.name + ") with " +
                                                device_name + " = none and " + fallback_name + " = error"};
        }
        written = agree(world, written); // a communicator is made by all or by none
        if (!written.ok()) throw PointError(written.status, written.reason);
        MPI_Comm_dup(world, &choice.comm);
        return choice;
    }

    bool holds_everywhere() const override { return true; }

    bool engage(const LibraryChoice &choice) override {
        std::string refused;
        return write(choice, refused);
    }

    void release() override {
        for (const RememberedVariable *changed : changed_) changed->variable.write(changed->before);
        changed_.clear();
    }

    bool refuses_algorithm(int error) const override {
        std::array<char, MPI_MAX_ERROR_STRING> text{};
        int length = 0;
        MPI_Error_string(error, text.data(), &length);
        return std::string_view(text.data()).find("collective algorithm is not usable") != std::string_view::npos;
    }

  private:
    static constexpr const char *algorithm_end = "INTRA_ALGORITHM";
    static constexpr const char *device_name = "MPIR_CVAR_DEVICE_COLLECTIVES";
    static constexpr const char *fallback_name = "MPIR_CVAR_COLLECTIVE_FALLBACK";

    // Names that stand for no algorithm: `nb` and `smp` call other collectives, whose algorithms the library chooses,
    // and `ccl` is the library's own choice unless it was built for GPUs.
    static constexpr std::array<std::string_view, 4> no_algorithms = {"auto", "nb", "smp", "ccl"};

    static std::vector<Collective> collectives() {
        std::vector<Collective> all;
        for (std::size_t i = 0; i < collective_names.size(); ++i) all.push_back(static_cast<Collective>(i));
        return all;
    }

    static const MpichAlgorithm *find(Collective collective, std::string_view name) {
        const auto *found = std::ranges::find_if(mpich_algorithms, [&](const MpichAlgorithm &known) {
            return known.collective == collective && known.name == name;
        });
        return found == mpich_algorithms.end() ? nullptr : found;
    }

    void open(const std::string &name) {
        RememberedVariable &remembered = variables_[name];
        if (remembered.variable.is_open() || !remembered.variable.open(name)) return;
        remembered.name = name;
        remembered.before = remembered.variable.read();
    }

    const ControlVariable &of(const std::string &name) const { return variables_.at(name).variable; }
    const ControlVariable &algorithm_of(Collective collective) const {
        return of(prefix_of(collective) + algorithm_end);
    }
    bool exists(Collective collective) const { return algorithm_of(collective).is_open(); }

    bool heeds(Collective collective, std::string_view end) const {
        return !end.empty() && of(prefix_of(collective) + std::string(end)).is_open();
    }

    bool write(const LibraryChoice &choice, std::string &refused) {
        if (!choice.algorithm.forced()) return true;
        const std::string prefix = prefix_of(choice.collective);
        const MpichAlgorithm *known = find(choice.collective, choice.algorithm.name);
        bool written = write(prefix + algorithm_end, static_cast<std::size_t>(choice.algorithm.id), refused);
        if (choice.fanout.has_value())
            written = written && write(prefix + std::string(known->fanout), *choice.fanout, refused);
        if (choice.segment_bytes.has_value())
            written = written && write(prefix + std::string(known->segment), *choice.segment_bytes, refused);
        return written && write(device_name, static_cast<std::size_t>(no_device_), refused) &&
               write(fallback_name, static_cast<std::size_t>(strict_), refused);
    }

    bool write(const std::string &name, std::size_t value, std::string &refused) {
        const RememberedVariable &remembered = variables_.at(name);
        changed_.push_back(&remembered);
        if (value <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
            remembered.variable.write(static_cast<int>(value)))
            return true;
        refused = name + " = " + std::to_string(value);
        return false;
    }

    std::map<std::string, RememberedVariable> variables_;
    std::vector<const RememberedVariable *> changed_; // since the last release
    int no_device_ = -1;
    int strict_ = -1;
};

} // namespace

std::unique_ptr<Controls> mpich_controls() {
    auto controls = std::make_unique<MpichControls>();
    if (!controls->usable()) return nullptr;
    return controls;
}

} // namespace collpress
