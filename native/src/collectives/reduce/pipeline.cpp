// Pipeline: segments go along one chain of all ranks to the root, and each rank adds its own; s + p - 2 steps for s
// segments, each rank but the root sends the vector once.
//
// J. Pješivac-Grbović, T. Angskun, G. Bosilca, G. E. Fagg, E. Gabriel, J. J. Dongarra: Performance Analysis of MPI
// Collective Operations. Cluster Comput. 10 (2007), doi:10.1007/s10586-007-0012-0 (pipeline). Segments of 128 KiB where
// the campaign names no size.
#include "collpress/partial_sum.hpp"
#include "collpress/segments.hpp"
#include "collpress/team.hpp"

#include <array>

namespace {

// The rank `place` places from the root receives segment s in step s + p - 1 - place, and adds to it and sends it in
// the next step, while the next segment arrives. Steps are counted from 1.
void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const collpress::Team chain(comm, call->root);
    const void *own = collpress::contribution_of(*call);
    const std::int32_t place = chain.mine();
    const bool is_root = place == 0;
    const bool is_end = place == chain.size() - 1;
    if (chain.size() == 1 || call->count == 0) {
        if (is_root && own != call->recv) comm.copy(call->recv, own, call->count);
        return;
    }
    const std::size_t segment = std::min(collpress::segment_elements(comm, *call), call->count);
    const auto segments = static_cast<std::int64_t>(call->count / segment + (call->count % segment == 0 ? 0 : 1));
    const auto exists = [&](std::int64_t index) { return index >= 0 && index < segments; };
    const auto first = [&](std::int64_t index) { return static_cast<std::size_t>(index) * segment; };
    const auto size = [&](std::int64_t index) { return std::min(segment, call->count - first(index)); };

    const bool in_recv = is_root && own != call->recv;
    std::array<std::byte *, 2> arrivals{};
    if (!in_recv && !is_end)
        for (std::byte *&arrival : arrivals) arrival = comm.scratch(comm.bytes(segment));
    const auto arrival = [&](std::int64_t index) {
        return in_recv ? comm.at(call->recv, first(index)) : arrivals[static_cast<std::size_t>(index % 2)];
    };
    const auto add = [&](std::int64_t index) {
        if (is_root && !in_recv)
            comm.reduce(comm.at(call->recv, first(index)), arrival(index), size(index));
        else
            comm.reduce(arrival(index), comm.at(own, first(index)), size(index));
    };

    const std::int32_t parent = is_root ? 0 : chain.rank_at(place - 1);
    const std::int32_t child = is_end ? 0 : chain.rank_at(place + 1);
    const std::int64_t steps = segments + chain.size() - 2;
    for (std::int64_t step = 1; step <= steps; ++step) {
        comm.step();
        const std::int64_t in = step - (chain.size() - 1 - place);
        const std::int64_t out = in - 1;
        collpress_request received = 0;
        collpress_request sent = 0;
        const bool receives = !is_end && exists(in);
        const bool sends = !is_root && exists(out);
        if (receives) received = comm.receive(arrival(in), size(in), child);
        if (!is_end && exists(out)) add(out);
        if (sends) sent = comm.send(is_end ? comm.at(own, first(out)) : arrival(out), size(out), parent);
        if (receives) comm.wait(received);
        if (sends) comm.wait(sent);
    }
    if (is_root) add(segments - 1);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("reduce", run, ({.in_place = true, .segments = true}),
                           "Pipeline: segments along one chain of all ranks")
