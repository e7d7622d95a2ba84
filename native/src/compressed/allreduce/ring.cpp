// Ring allreduce that sends compressed blocks.
//
// J. Huang et al.: An Optimized Error-controlled MPI Collective Framework Integrated with Lossy Compression (C-Coll).
// IPDPS 2024, doi:10.1109/IPDPS57955.2024.00072. Reduce-scatter: compress, send, decompress, reduce in each hop.
// All-gather: each finished block is compressed once by its owner and travels as that stream; the owner, too, takes
// what the stream decompresses to, so that all ranks end with the same bits.
#include "collpress/p2p.hpp"

#include <algorithm>
#include <utility>

namespace {

using collpress::Blocks;
using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::int32_t ranks = comm.size();
    if (ranks == 1 || call->count == 0) {
        comm.copy(call->recv, call->send, call->count);
        return;
    }
    const Blocks blocks{call->count, static_cast<std::size_t>(ranks)};
    const std::int32_t right = (comm.rank() + 1) % ranks;
    const std::int32_t left = (comm.rank() + ranks - 1) % ranks;
    const auto behind = [&](std::int32_t steps) { // the block that started `steps` ranks to the left
        return static_cast<std::size_t>((comm.rank() + 2 * ranks - steps) % ranks);
    };
    const std::size_t capacity = comm.capacity(blocks.largest());
    std::byte *outgoing = comm.scratch(capacity);
    std::byte *incoming = comm.scratch(capacity);

    {
        CP_TAG(comm, "reduce-scatter");
        for (std::int32_t step = 0; step < ranks - 1; ++step) {
            comm.step();
            const std::size_t out = behind(step);
            const std::size_t in = behind(step + 1);
            collpress_request sent = 0;
            collpress_request received = 0;
            if (blocks.size(in) != 0) received = comm.receive_bytes(incoming, capacity, left);
            if (blocks.size(out) != 0) {
                const void *source = step == 0 ? call->send : call->recv;
                const std::size_t bytes =
                    comm.compress(comm.at(source, blocks.offset(out)), blocks.size(out), outgoing, capacity);
                sent = comm.send_bytes(outgoing, bytes, right);
            }
            if (blocks.size(in) != 0) {
                const std::size_t bytes = comm.wait(received);
                std::byte *partial = comm.at(call->recv, blocks.offset(in));
                comm.decompress(incoming, bytes, partial, blocks.size(in));
                comm.reduce(partial, comm.at(call->send, blocks.offset(in)), blocks.size(in));
            }
            if (blocks.size(out) != 0) comm.wait(sent);
        }
    }

    CP_TAG(comm, "allgather");
    std::size_t held = 0; // bytes of the stream in `outgoing`
    for (std::int32_t step = 0; step < ranks - 1; ++step) {
        comm.step();
        const std::size_t out = behind(step - 1);
        const std::size_t in = behind(step);
        collpress_request sent = 0;
        collpress_request received = 0;
        if (blocks.size(in) != 0) received = comm.receive_bytes(incoming, capacity, left);
        if (blocks.size(out) != 0) {
            std::byte *block = comm.at(call->recv, blocks.offset(out));
            if (step == 0) held = comm.compress(block, blocks.size(out), outgoing, capacity);
            sent = comm.send_bytes(outgoing, held, right);
            // While the stream is on its way, unpack it here.
            comm.decompress(outgoing, held, block, blocks.size(out));
        }
        if (blocks.size(in) != 0) held = comm.wait(received);
        if (blocks.size(out) != 0) comm.wait(sent);
        std::swap(outgoing, incoming);
    }
    if (const std::size_t last = behind(ranks - 2); blocks.size(last) != 0) {
        comm.decompress(outgoing, held, comm.at(call->recv, blocks.offset(last)), blocks.size(last));
    }
}

// A block is compressed once for each of the p-1 hops of its growing partial result, and once for the all-gather: at
// most p errors add up (a maximum passes an error on, it does not enlarge it). What is compressed in hop k has seen k
// contributions and the errors so far. For a codec bounded by eb at every magnitude this is p·eb.
double error_bound(std::int32_t ranks, std::uint32_t op, double max_abs, collpress_worst_error worst_error,
                   const void *codec_context) {
    if (ranks < 2) return 0;
    constexpr double rounding = 1 + 1e-6; // partial sums are rounded to the dtype; generous for float32
    double error = 0;
    for (std::int32_t contributions = 1; contributions <= ranks; ++contributions) {
        const double exact = op == COLLPRESS_SUM ? contributions * max_abs : max_abs;
        error += worst_error(codec_context, (exact + error) * rounding);
    }
    return error;
}

constexpr collpress_algorithm interface = {"allreduce", 1, 1, 0, 0, run, error_bound, 0, 0, 0};
constexpr collpress_plugin_t plugin = {COLLPRESS_ABI_VERSION, COLLPRESS_ALGORITHM,
                                       "Ring that compresses each hop, and once for the all-gather", &interface};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
