// MPICH: control variables that hold for every communicator from the moment they are written. So they are written
// before the calls that they are meant for, and put back after them.
//
// Three of them, for the algorithm alone would not do: after a few calls on a communicator MPICH's device takes a
// collective over with shared memory and asks for no algorithm, and an algorithm that cannot be used for a call is
// replaced silently. Both are switched off where an algorithm is asked for; a call that it cannot serve then fails.
#include "backends/mpi/controls.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace collpress {

namespace {

class MpichControls : public Controls {
  public:
    MpichControls() {
        algorithm_.open(algorithm_name);
        device_.open(device_name);
        fallback_.open(fallback_name);
        no_device_ = device_.value("none").value_or(-1);
        strict_ = fallback_.value("error").value_or(-1);
        algorithm_before_ = algorithm_.read();
        device_before_ = device_.read();
        fallback_before_ = fallback_.read();
    }

    bool usable() const {
        return algorithm_.is_open() && algorithm_.value("auto") == 0 && device_.is_open() && no_device_ >= 0 &&
               fallback_.is_open() && strict_ >= 0;
    }
    const char *name() const override { return "mpich"; }

    std::vector<LibraryAlgorithm> allreduce_algorithms() const override {
        std::vector<LibraryAlgorithm> found;
        for (const NamedValue &value : algorithm_.values()) {
            const bool algorithm = std::ranges::find(no_algorithms, value.name) == no_algorithms.end();
            if (algorithm) found.push_back({value.name, value.number});
        }
        return found;
    }

    LibraryChoice choose(MPI_Comm world, const LibraryAlgorithm &algorithm) override {
        LibraryChoice choice;
        choice.algorithm = algorithm;
        Verdict written;
        choice.read_back = engage(choice) && algorithm_.read() == algorithm.id;
        release();
        if (algorithm.forced() && !choice.read_back) {
            written = {Status::unsupported, std::string("the library refuses ") + algorithm_name + " = " +
                                                std::to_string(algorithm.id) + " (" + algorithm.name + ") with " +
                                                device_name + " = none and " + fallback_name + " = error"};
        }
        written = agree(world, written); // a communicator is made by all or by none
        if (!written.ok()) throw PointError(written.status, written.reason);
        MPI_Comm_dup(world, &choice.comm);
        return choice;
    }

    bool engage(const LibraryChoice &choice) override {
        if (!choice.algorithm.forced()) return true;
        return algorithm_.write(choice.algorithm.id) && device_.write(no_device_) && fallback_.write(strict_);
    }

    void release() override {
        algorithm_.write(algorithm_before_);
        device_.write(device_before_);
        fallback_.write(fallback_before_);
    }

    bool refuses_algorithm(int error) const override {
        std::array<char, MPI_MAX_ERROR_STRING> text{};
        int length = 0;
        MPI_Error_string(error, text.data(), &length);
        return std::string_view(text.data()).find("collective algorithm is not usable") != std::string_view::npos;
    }

  private:
    static constexpr const char *algorithm_name = "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM";
    static constexpr const char *device_name = "MPIR_CVAR_DEVICE_COLLECTIVES";
    static constexpr const char *fallback_name = "MPIR_CVAR_COLLECTIVE_FALLBACK";

    // Names that stand for no algorithm: `nb` and `smp` call other collectives, whose algorithms the library chooses,
    // and `ccl` is the library's own choice unless it was built for GPUs.
    static constexpr std::array<std::string_view, 4> no_algorithms = {"auto", "nb", "smp", "ccl"};

    ControlVariable algorithm_;
    ControlVariable device_;
    ControlVariable fallback_;
    int no_device_ = -1;
    int strict_ = -1;
    // What the environment may have set: it holds whenever no algorithm is asked for.
    int algorithm_before_ = 0;
    int device_before_ = 0;
    int fallback_before_ = 0;
};

} // namespace

std::unique_ptr<Controls> mpich_controls() {
    auto controls = std::make_unique<MpichControls>();
    if (!controls->usable()) return nullptr;
    return controls;
}

} // namespace collpress
