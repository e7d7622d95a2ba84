// Open MPI: the control variables of its component `tuned`, read by each communicator when it is made. So every
// algorithm gets a communicator of its own, made while the variables say so, with `tuned` preferred over the other
// components (with several hosts `han` would answer otherwise and ignore the request).
#include "backends/mpi/controls.hpp"

namespace collpress {

namespace {

class OpenMpiControls : public Controls {
  public:
    OpenMpiControls() {
        rules_.open(rules_name);
        algorithm_.open(algorithm_name);
        segment_.open(segment_name);
    }

    bool usable() const { return rules_.is_open() && algorithm_.is_open(); }
    const char *name() const override { return "openmpi"; }

    std::vector<LibraryAlgorithm> allreduce_algorithms() const override {
        std::vector<LibraryAlgorithm> found;
        for (const NamedValue &value : algorithm_.values()) {
            if (value.number != 0) found.push_back({value.name, value.number}); // 0 leaves the choice to the library
        }
        return found;
    }

    LibraryChoice choose(MPI_Comm world, const LibraryAlgorithm &algorithm) override {
        LibraryChoice choice;
        choice.algorithm = algorithm;
        // Without a segment size the library runs the algorithm of the same name that has no segments.
        const bool segmented = algorithm.forced() && algorithm.name.find("segmented") != std::string::npos;
        const int segment = segmented ? bytes_of_a_segment : 0;
        const Verdict written = agree(world, write(algorithm, segmented, segment)); // made by all or by none
        if (written.ok()) {
            MPI_Info info = MPI_INFO_NULL;
            MPI_Info_create(&info);
            if (algorithm.forced()) MPI_Info_set(info, "ompi_comm_coll_preference", "tuned");
            MPI_Comm_dup_with_info(world, info, &choice.comm);
            MPI_Info_free(&info);
            choice.read_back = algorithm_.read() == algorithm.id && rules_.read() == (algorithm.forced() ? 1 : 0) &&
                               (!segmented || segment_.read() == segment);
            if (segmented) choice.segment_bytes = static_cast<std::size_t>(segment);
        }
        // What other communicators are made from now on is not affected.
        segment_.write(0);
        algorithm_.write(0);
        rules_.write(0);
        if (!written.ok()) throw PointError(written.status, written.reason);
        return choice;
    }

    // With fewer elements than ranks the algorithms silently fall back to others; with less than a segment for each
    // rank the segmented ones run without segments.
    bool may_fall_back(const LibraryChoice &choice, const CallShape &call) const override {
        if (!choice.algorithm.forced()) return false;
        return call.count < call.ranks || call.bytes < call.ranks * choice.segment_bytes.value_or(0);
    }

  private:
    static constexpr const char *rules_name = "coll_tuned_use_dynamic_rules";
    static constexpr const char *algorithm_name = "coll_tuned_allreduce_algorithm";
    static constexpr const char *segment_name = "coll_tuned_allreduce_algorithm_segmentsize";
    static constexpr int bytes_of_a_segment = 65536; // for algorithms that cut their blocks into segments

    Verdict write(const LibraryAlgorithm &algorithm, bool segmented, int segment) const {
        if (!rules_.write(algorithm.forced() ? 1 : 0)) {
            return {Status::unsupported, std::string("the library refuses to set ") + rules_name};
        }
        if (!algorithm_.write(algorithm.id)) {
            return {Status::unsupported, std::string("the library refuses ") + algorithm_name + " = " +
                                             std::to_string(algorithm.id) + " (" + algorithm.name + ")"};
        }
        if (!segment_.write(segment) && segmented) {
            return {Status::unsupported,
                    std::string("the library refuses to set ") + segment_name + " = " + std::to_string(segment)};
        }
        return {};
    }

    ControlVariable rules_;
    ControlVariable algorithm_;
    ControlVariable segment_;
};

} // namespace

std::unique_ptr<Controls> openmpi_controls() {
    auto controls = std::make_unique<OpenMpiControls>();
    if (!controls->usable()) return nullptr;
    return controls;
}

} // namespace collpress
