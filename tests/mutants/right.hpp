// Every collective, right and plain, for the mutants to be made from: what one
// rank sends to another is a transfer, a reduction is what all ranks sent,
// reduced in the order of ranks.
#pragma once

#include "collpress/p2p.hpp"

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

namespace right {

using collpress::P2p;

// From an element of the sender's buffer on, to an element of the receiver's.
struct Transfer {
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t count = 0;
};

inline std::size_t total(const std::size_t *counts, std::size_t number, std::size_t stride = 1) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < number; ++i) sum += counts[i * stride];
    return sum;
}

// transfer(s, d): what goes from rank s to rank d.
template <typename TransferOf>
void move(const P2p &comm, const void *send, void *recv, TransferOf &&transfer) {
    const auto mine = static_cast<std::size_t>(comm.rank());
    const auto ranks = static_cast<std::size_t>(comm.size());
    std::vector<collpress_request> requests;
    comm.step();
    for (std::size_t other = 0; other < ranks; ++other) {
        const Transfer in = transfer(other, mine);
        if (other != mine && in.count != 0)
            requests.push_back(comm.receive(comm.at(recv, in.to), in.count, static_cast<std::int32_t>(other)));
    }
    for (std::size_t other = 0; other < ranks; ++other) {
        const Transfer out = transfer(mine, other);
        if (other != mine && out.count != 0)
            requests.push_back(comm.send(comm.at(send, out.from), out.count, static_cast<std::int32_t>(other)));
    }
    for (const collpress_request request : requests) comm.wait(request);
    const Transfer own = transfer(mine, mine);
    comm.copy(comm.at(recv, own.to), comm.at(send, own.from), own.count);
}

inline std::vector<std::int32_t> all(const P2p &comm) {
    std::vector<std::int32_t> ranks(static_cast<std::size_t>(comm.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

inline const void *contribution(const collpress_call &call) { return call.send != nullptr ? call.send : call.recv; }

// What all ranks sent, one vector behind the other.
inline std::byte *contributions(const P2p &comm, const collpress_call &call) {
    std::byte *vectors = comm.scratch(comm.bytes(call.count) * static_cast<std::size_t>(comm.size()));
    move(comm, contribution(call), vectors,
         [&](std::size_t from, std::size_t) { return Transfer{0, from * call.count, call.count}; });
    return vectors;
}

// The reduction of some ranks' elements from `first` on; a rank may be named
// twice.
inline void reduction(const P2p &comm, const collpress_call &call, const std::byte *vectors,
                      const std::vector<std::int32_t> &ranks, void *result, std::size_t first, std::size_t count) {
    bool started = false;
    for (const std::int32_t rank : ranks) {
        const std::byte *theirs = comm.at(vectors, static_cast<std::size_t>(rank) * call.count + first);
        if (started)
            comm.reduce(result, theirs, count);
        else
            comm.copy(result, theirs, count);
        started = true;
    }
}

inline void allreduce(const P2p &comm, const collpress_call &call, const std::vector<std::int32_t> &ranks) {
    reduction(comm, call, contributions(comm, call), ranks, call.recv, 0, call.count);
}
inline void allreduce(const P2p &comm, const collpress_call &call) { allreduce(comm, call, all(comm)); }

// With an operation of the mutant's own, in a type of its own, for values of
// type T.
template <typename T, typename Sum = T, typename Operation>
void fold(const P2p &comm, const collpress_call &call, Operation &&operation) {
    const auto *vectors = reinterpret_cast<const T *>(contributions(comm, call));
    for (std::size_t i = 0; i < call.count; ++i) {
        auto result = static_cast<Sum>(vectors[i]);
        for (std::size_t rank = 1; rank < static_cast<std::size_t>(comm.size()); ++rank)
            result = static_cast<Sum>(operation(result, static_cast<Sum>(vectors[rank * call.count + i])));
        static_cast<T *>(call.recv)[i] = static_cast<T>(result);
    }
}

inline void reduce(const P2p &comm, const collpress_call &call) {
    const std::byte *vectors = contributions(comm, call);
    if (comm.rank() == call.root) reduction(comm, call, vectors, all(comm), call.recv, 0, call.count);
}

inline void reduce_scatter(const P2p &comm, const collpress_call &call, std::int32_t block) {
    const collpress::Blocks blocks{call.count, static_cast<std::size_t>(comm.size())};
    const std::byte *vectors = contributions(comm, call);
    const auto mine = static_cast<std::size_t>(block);
    reduction(comm, call, vectors, all(comm), call.recv, blocks.offset(mine),
              std::min(blocks.size(mine), blocks.size(static_cast<std::size_t>(comm.rank()))));
}

// The transfers of what is only moved.
inline auto of_allgather(const collpress_call &call) {
    return [&call](std::size_t from, std::size_t) { return Transfer{0, from * call.count, call.count}; };
}
inline auto of_allgatherv(const collpress_call &call) {
    return [&call](std::size_t from, std::size_t) { return Transfer{0, total(call.counts, from), call.counts[from]}; };
}
inline auto of_gather(const collpress_call &call) {
    return [&call](std::size_t from, std::size_t to) {
        return to == static_cast<std::size_t>(call.root) ? Transfer{0, from * call.count, call.count} : Transfer{};
    };
}
inline auto of_scatter(const collpress_call &call) {
    return [&call](std::size_t from, std::size_t to) {
        return from == static_cast<std::size_t>(call.root) ? Transfer{to * call.count, 0, call.count} : Transfer{};
    };
}
inline auto of_alltoall(const collpress_call &call) {
    return
        [&call](std::size_t from, std::size_t to) { return Transfer{to * call.count, from * call.count, call.count}; };
}
inline auto of_alltoallv(const P2p &comm, const collpress_call &call) {
    const auto ranks = static_cast<std::size_t>(comm.size());
    return [&call, ranks](std::size_t from, std::size_t to) {
        return Transfer{total(call.counts + from * ranks, to), total(call.counts + to, from, ranks),
                        call.counts[from * ranks + to]};
    };
}
inline auto of_pingpong(const P2p &comm, const collpress_call &call) {
    const auto last = static_cast<std::size_t>(comm.size()) - 1;
    return [&call, last](std::size_t from, std::size_t to) {
        const bool swaps = last != 0 && ((from == 0 && to == last) || (from == last && to == 0));
        return swaps || (last == 0) ? Transfer{0, 0, call.count} : Transfer{};
    };
}

inline void bcast(const P2p &comm, const collpress_call &call) {
    move(comm, call.recv, call.recv, [&](std::size_t from, std::size_t to) {
        return from == static_cast<std::size_t>(call.root) && to != from ? Transfer{0, 0, call.count} : Transfer{};
    });
}

// Every rank tells every other one that it has come; `unheard` is not waited
// for.
inline void barrier(const P2p &comm, std::int32_t unheard = -1) {
    std::vector<collpress_request> requests;
    comm.step();
    for (const std::int32_t other : all(comm)) {
        if (other == comm.rank()) continue;
        if (other != unheard) requests.push_back(comm.receive(nullptr, 0, other));
        if (comm.rank() != unheard) requests.push_back(comm.send(nullptr, 0, other));
    }
    for (const collpress_request request : requests) comm.wait(request);
}

// An element becomes what no sum or product of small whole numbers is, in any
// dtype.
inline void spoil(const P2p &comm, void *buffer, std::size_t element, int byte = 0x41) {
    std::memset(comm.at(buffer, element), byte, comm.bytes(1));
}

// Bit 0 is the lowest of the mantissa, the highest is the sign.
inline void flip(const P2p &comm, void *buffer, std::size_t element, std::size_t bit) {
    comm.at(buffer, element)[bit / 8] ^= std::byte{1} << (bit % 8);
}

} // namespace right
