// What outlives a point: communicators, loaded plugins, mapped files. Nothing of it is made again for each point.
#pragma once

#include "backends/mpi/library.hpp"
#include "core/plugin.hpp"
#include "measure/barrier.hpp"
#include "measure/data.hpp"
#include "measure/samples.hpp"
#include "measure/start.hpp"
#include "measure/trace.hpp"
#include "p2p/mpi_p2p.hpp"

#include <string>

#include <mpi.h>

namespace collpress {

struct Session {
    // Collective over `world_comm`, which is used for everything outside timed regions.
    Session(MPI_Comm world_comm, const std::string &samples_path, SamplesMode samples_mode,
            const std::string &trace_path)
        : world(world_comm), host(ranks_beside(world_comm)), barrier(world_comm), starts(world_comm, host, barrier),
          library(world_comm), p2p(world_comm), samples(samples_path, samples_mode, world_comm),
          traces(trace_path, world_comm, has_one_host(host, world_comm)) {
        MPI_Comm_rank(world, &rank);
        MPI_Comm_size(world, &size);
        MPI_Comm_size(host, &ranks_on_host);
    }
    ~Session() { MPI_Comm_free(&host); }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    bool one_host() const { return ranks_on_host == size; }

    MPI_Comm world;
    MPI_Comm host; // the ranks of this machine
    int rank = 0;
    int size = 0;
    int ranks_on_host = 0;
    Barrier barrier;
    Starts starts;
    Library library;
    MpiP2p p2p;
    PluginCache plugins;
    DataCache data;
    SamplesFile samples;
    TraceFile traces;

  private:
    static bool has_one_host(MPI_Comm host, MPI_Comm world) {
        int here = 0;
        int everywhere = 0;
        MPI_Comm_size(host, &here);
        MPI_Comm_size(world, &everywhere);
        return here == everywhere;
    }
    static MPI_Comm ranks_beside(MPI_Comm comm) {
        int own = 0;
        MPI_Comm_rank(comm, &own);
        MPI_Comm beside = MPI_COMM_NULL;
        MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, own, MPI_INFO_NULL, &beside);
        return beside;
    }
};

} // namespace collpress
