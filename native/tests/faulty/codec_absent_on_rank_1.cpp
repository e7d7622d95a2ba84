// Cannot be had on rank 1, while all other ranks have it.
#include "codec.hpp"

#include <cstdlib>

static void *create(const collpress_codec_config *config, collpress_codec_result *result) {
    const char *rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (rank == nullptr || std::atoi(rank) != 1) return faulty::create(config, result);
    *result = COLLPRESS_CODEC_FAILED;
    return nullptr;
}

static constexpr collpress_codec codec = {
    7,      0, 1, create, faulty::destroy, faulty::max_bytes, faulty::compress, faulty::decompress, faulty::worst_error,
    nullptr};

FAULTY_CODEC(codec, "fails on rank 1")
