// Do all ranks end with the same bits? Runs a compressing algorithm once on real data and compares every rank's result
// with rank 0's.
//
//   identical-results ALGORITHM.so CODEC.so DATA.bin       under mpiexec; each rank sends its share of the float32 file
#include "core/plugin.hpp"
#include "measure/buffer.hpp"
#include "measure/data.hpp"
#include "p2p/mpi_p2p.hpp"

#include <cstdio>
#include <cstring>

#include <mpi.h>

int main(int argc, char **argv) {
    using namespace collpress;
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int differs = 0;
    {
        PluginCache plugins;
        const collpress_algorithm &algorithm = *plugins.load(argv[1]).algorithm();
        const MappedFile data(argv[3]);
        const std::size_t count = data.size() / sizeof(float) / static_cast<std::size_t>(size);
        const std::size_t bytes = count * sizeof(float);
        CodecContext codec(plugins.load(argv[2]).codec(), "codec", {COLLPRESS_FLOAT32, 0.01, nullptr, 0, 0, 0});
        MpiP2p p2p(MPI_COMM_WORLD);
        p2p.configure({sizeof(float), reduction_of(COLLPRESS_FLOAT32, COLLPRESS_SUM), &codec});
        const Buffer recv(bytes);
        p2p.run(algorithm, {data.data() + static_cast<std::size_t>(rank) * bytes, recv.data(), count, COLLPRESS_FLOAT32,
                            COLLPRESS_SUM, 0, nullptr, 0, 0});
        const Buffer first(bytes);
        std::memcpy(first.data(), recv.data(), bytes);
        MPI_Bcast(first.data(), static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD);
        differs = std::memcmp(first.data(), recv.data(), bytes) != 0 || !p2p.verdict().ok() ? 1 : 0;
        if (differs != 0) std::printf("rank %d differs from rank 0 %s\n", rank, p2p.verdict().reason.c_str());
        MPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return differs;
}
