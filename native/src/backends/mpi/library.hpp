// The MPI library's own collectives, and the choice of their algorithms: by its controls where it has some that we know
// (controls.hpp), else its default only.
#pragma once

#include "backends/mpi/controls.hpp"
#include "collpress/plugin.h"

#include <map>
#include <memory>
#include <string>
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
    const std::vector<LibraryAlgorithm> &allreduce_algorithms() const { return algorithms_; }

    // Collective on first use of a name. Throws PointError(unsupported) when the library lacks or refuses the
    // algorithm.
    const LibraryChoice &allreduce(const std::string &name);

    // Around every use of a choice's communicator: see Controls.
    bool engage(const LibraryChoice &choice) { return !controls_ || controls_->engage(choice); }
    void release() {
        if (controls_) controls_->release();
    }
    bool may_fall_back(const LibraryChoice &choice, const CallShape &call) const {
        return controls_ && controls_->may_fall_back(choice, call);
    }
    // What an error of a call on a choice's communicator means.
    Verdict judge(int error, const LibraryChoice &choice, const CallShape &call) const;

    static MPI_Datatype datatype(collpress_dtype dtype);
    static MPI_Op operation(collpress_op op);
    static std::string version(); // the first line of what the library says; MPI need not have been started

  private:
    const LibraryAlgorithm &find(const std::string &name) const;
    LibraryChoice make(const LibraryAlgorithm &algorithm);

    MPI_Comm world_;
    std::unique_ptr<Controls> controls_;
    std::vector<LibraryAlgorithm> algorithms_;
    std::map<std::string, LibraryChoice> choices_;
};

} // namespace collpress
