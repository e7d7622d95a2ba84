// How a step of a point went, and how all ranks come to one opinion about it.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include <mpi.h>

namespace collpress {

// Ordered: where ranks differ, the later one is reported.
enum class Status : int { ok = 0, unsupported, invalid, out_of_memory, failed };

const char *status_name(Status status);

struct Verdict {
    Status status = Status::ok;
    std::string reason;

    bool ok() const { return status == Status::ok; }
};

// Ends the point on this rank with a status; the other ranks learn of it through agree().
class PointError : public std::runtime_error {
  public:
    PointError(Status status, const std::string &reason) : std::runtime_error(reason), status_(status) {}
    Status status() const { return status_; }

  private:
    Status status_;
};

// Runs a step that only concerns this rank; whatever it throws becomes its verdict.
template <typename Step>
Verdict attempt(Step &&step) {
    try {
        std::forward<Step>(step)();
        return {};
    } catch (const PointError &error) {
        return {error.status(), error.what()};
    } catch (const std::bad_alloc &) {
        return {Status::out_of_memory, "memory could not be allocated"};
    } catch (const std::exception &error) {
        return {Status::failed, error.what()};
    }
}

// Collective: the worst verdict of all ranks, the same on each; the reason names the rank when not all ranks say so.
Verdict agree(MPI_Comm comm, const Verdict &mine);

} // namespace collpress
