// An all-gather of streams whose owners keep their exact blocks, which no other rank has: within every bound, but not
// the same bits on all ranks.
#include "collpress/stream_exchange.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const auto place = [&](std::int32_t rank) {
        return comm.at(call->recv, static_cast<std::size_t>(rank) * call->count);
    };
    collpress::share_streams(
        comm, call->send, [&](std::int32_t) { return call->count; },
        [&](std::int32_t rank, const collpress::Stream &stream) {
            if (rank == comm.rank())
                comm.copy(place(rank), call->send, call->count);
            else
                stream.decompress(comm, place(rank), call->count);
        });
}

COLLPRESS_COMPRESSING_PLUGIN("allgather", run, collpress::error_of_moving, {}, "keeps what is its own")
