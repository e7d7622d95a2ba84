// The MPI library's own collectives, and the choice of their algorithms: by its controls where it has some that we know
// (controls.hpp), else its default only.
#pragma once

#include "backends/mpi/controls.hpp"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <mpi.h>

namespace collpress {

class Library {
  public:
    explicit Library(MPI_Comm world);
    ~Library();
    Library(const Library &) = delete;
    Library &operator=(const Library &) = delete;

    const char *controls() const { return controls_ ? controls_->name() : "none"; }
    // `default` first.
    const std::vector<LibraryAlgorithm> &algorithms(Collective collective) const {
        return algorithms_[static_cast<std::size_t>(collective)];
    }

    // Collective on first use of a name with these settings. Throws PointError(unsupported) when the library lacks or
    // refuses the algorithm, or when it knows no such setting of it.
    const LibraryChoice &choose(Collective collective, const std::string &name, const LibrarySettings &settings);

    // Around every use of a choice's communicator: see Controls.
    bool engage(const LibraryChoice &choice) { return !controls_ || controls_->engage(choice); }
    void release() {
        if (controls_) controls_->release();
    }
    bool holds_everywhere() const { return controls_ && controls_->holds_everywhere(); }
    bool may_fall_back(const LibraryChoice &choice, const CallShape &call) const {
        return controls_ && controls_->may_fall_back(choice, call);
    }
    // Why a call must not be made: the library would abort. Empty where it may.
    static std::string refusal(const LibraryChoice &choice, const CallShape &call);
    // What an error of a call on a choice's communicator means.
    Verdict judge(int error, const LibraryChoice &choice, const CallShape &call) const;

    static std::string version(); // the first line of what the library says; MPI need not have been started

  private:
    using Key = std::tuple<Collective, std::string, LibrarySettings>;

    const LibraryAlgorithm &find(Collective collective, const std::string &name) const;
    LibraryChoice make(Collective collective, const LibraryAlgorithm &algorithm, const LibrarySettings &settings);

    MPI_Comm world_;
    std::size_t ranks_ = 0;
    std::unique_ptr<Controls> controls_;
    std::array<std::vector<LibraryAlgorithm>, collective_names.size()> algorithms_;
    std::map<Key, LibraryChoice> choices_;
};

} // namespace collpress
