// The proof pass: what the library really does for the points of a plan, in a launch of its own, for the counters that
// tell it cost time.
#pragma once

#include "backends/mpi/library.hpp"
#include "core/plan.hpp"
#include "core/plugin.hpp"
#include "p2p/mpi_p2p.hpp"
#include "proof/fingerprint.hpp"
#include "proof/judgement.hpp"
#include "proof/traffic.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <mpi.h>

namespace collpress {

class Prover {
  public:
    // Collective over `world`, MPI_COMM_WORLD. `references`: the folder of our algorithms, one folder a collective;
    // without it nothing is verified.
    Prover(MPI_Comm world, std::string references);

    // How the point's algorithm can be seen here: "traffic", "fingerprint", or "" (not at all).
    const char *evidence(const PlanPoint &point) const;

    // All collective; what they return is of use on rank 0 only.
    Judgement prove(const PlanPoint &point);
    Looks looks(const PlanPoint &point);
    // Throws PointError where the call cannot be made or shows nothing.
    std::string seen(const PlanPoint &point, const std::string &algorithm);

  private:
    CallShape shape(const PlanPoint &point) const;
    LibrarySettings settings(const PlanPoint &point, const LibraryAlgorithm &algorithm) const;
    std::string seen_traffic(const Exchange &exchange, const PlanPoint &point, const LibraryChoice &choice);
    std::string seen_fingerprint(const Exchange &exchange, const LibraryChoice &choice);
    std::set<std::string> looks_of_schedules(const PlanPoint &point, const LibraryAlgorithm &algorithm);
    std::string gathered(const std::string &text) const;
    void agree_on(int error, const LibraryChoice &choice, const PlanPoint &point) const;

    MPI_Comm world_;
    int rank_ = 0;
    int size_ = 0;
    std::string references_;
    Library library_;
    MpiP2p p2p_;
    PluginCache plugins_;
    TrafficCounters counters_;
    std::map<std::string, Looks> looks_; // by shape of call
    std::set<const LibraryChoice *> set_up_;
};

// Collective. One line a point of the library's into `path`.
void run_proof(const std::vector<PlanPoint> &plan, const std::string &path, const std::string &references,
               MPI_Comm world);

} // namespace collpress
