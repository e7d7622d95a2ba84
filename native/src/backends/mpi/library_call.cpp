#include "backends/mpi/library_call.hpp"

#include "collpress/p2p.hpp"
#include "p2p/reduction.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace collpress {

namespace {

#ifdef COLLPRESS_LARGE_COUNTS
constexpr bool has_large_counts = true;
using OperationLength = MPI_Count;
#else
constexpr bool has_large_counts = false;
using OperationLength = int;
#endif

// The library's functions for one kind of counts, blocking (no Request) or not.
template <typename Count, typename Displacement, typename... Request>
struct Functions {
    int (*allreduce)(const void *, void *, Count, MPI_Datatype, MPI_Op, MPI_Comm, Request...);
    int (*reduce)(const void *, void *, Count, MPI_Datatype, MPI_Op, int, MPI_Comm, Request...);
    int (*reduce_scatter)(const void *, void *, const Count[], MPI_Datatype, MPI_Op, MPI_Comm, Request...);
    int (*allgather)(const void *, Count, MPI_Datatype, void *, Count, MPI_Datatype, MPI_Comm, Request...);
    int (*allgatherv)(const void *, Count, MPI_Datatype, void *, const Count[], const Displacement[], MPI_Datatype,
                      MPI_Comm, Request...);
    int (*gather)(const void *, Count, MPI_Datatype, void *, Count, MPI_Datatype, int, MPI_Comm, Request...);
    int (*scatter)(const void *, Count, MPI_Datatype, void *, Count, MPI_Datatype, int, MPI_Comm, Request...);
    int (*alltoall)(const void *, Count, MPI_Datatype, void *, Count, MPI_Datatype, MPI_Comm, Request...);
    int (*alltoallv)(const void *, const Count[], const Displacement[], MPI_Datatype, void *, const Count[],
                     const Displacement[], MPI_Datatype, MPI_Comm, Request...);
    int (*bcast)(void *, Count, MPI_Datatype, int, MPI_Comm, Request...);
    int (*barrier)(MPI_Comm, Request...);
};

constexpr Functions<int, int> blocking = {MPI_Allreduce,  MPI_Reduce, MPI_Reduce_scatter, MPI_Allgather,
                                          MPI_Allgatherv, MPI_Gather, MPI_Scatter,        MPI_Alltoall,
                                          MPI_Alltoallv,  MPI_Bcast,  MPI_Barrier};
constexpr Functions<int, int, MPI_Request *> starting = {
    MPI_Iallreduce, MPI_Ireduce,   MPI_Ireduce_scatter, MPI_Iallgather, MPI_Iallgatherv, MPI_Igather,
    MPI_Iscatter,   MPI_Ialltoall, MPI_Ialltoallv,      MPI_Ibcast,     MPI_Ibarrier};
#ifdef COLLPRESS_LARGE_COUNTS
constexpr Functions<MPI_Count, MPI_Aint> large_blocking = {
    MPI_Allreduce_c, MPI_Reduce_c,   MPI_Reduce_scatter_c, MPI_Allgather_c, MPI_Allgatherv_c, MPI_Gather_c,
    MPI_Scatter_c,   MPI_Alltoall_c, MPI_Alltoallv_c,      MPI_Bcast_c,     MPI_Barrier};
constexpr Functions<MPI_Count, MPI_Aint, MPI_Request *> large_starting = {
    MPI_Iallreduce_c, MPI_Ireduce_c,   MPI_Ireduce_scatter_c, MPI_Iallgather_c, MPI_Iallgatherv_c, MPI_Igather_c,
    MPI_Iscatter_c,   MPI_Ialltoall_c, MPI_Ialltoallv_c,      MPI_Ibcast_c,     MPI_Ibarrier};
#endif

MPI_Datatype datatype(collpress_dtype dtype) {
    switch (dtype) {
    case COLLPRESS_FLOAT32:
        return MPI_FLOAT;
    case COLLPRESS_FLOAT64:
        return MPI_DOUBLE;
    case COLLPRESS_INT8:
        return MPI_INT8_T;
    case COLLPRESS_INT16:
        return MPI_INT16_T;
    case COLLPRESS_INT32:
        return MPI_INT32_T;
    case COLLPRESS_INT64:
        return MPI_INT64_T;
    case COLLPRESS_FLOAT16:
    case COLLPRESS_BFLOAT16:
        return MPI_UINT16_T; // MPI has neither
    }
    return MPI_DATATYPE_NULL;
}

bool needs_user_operation(Collective collective, collpress_dtype dtype) {
    return reduces(collective) && (dtype == COLLPRESS_FLOAT16 || dtype == COLLPRESS_BFLOAT16);
}

MPI_Op library_operation(collpress_op op) {
    switch (op) {
    case COLLPRESS_SUM:
        return MPI_SUM;
    case COLLPRESS_MAX:
        return MPI_MAX;
    case COLLPRESS_MIN:
        return MPI_MIN;
    case COLLPRESS_PROD:
        return MPI_PROD;
    }
    return MPI_OP_NULL;
}

// MPI hands a function of a user's nothing that could tell the operation, so each has a function of its own.
template <collpress_dtype dtype, collpress_op op>
void operate(void *in, void *inout, OperationLength *length, MPI_Datatype *) {
    static const Reduction reduction = reduction_of(dtype, op);
    reduction(inout, in, static_cast<std::size_t>(*length));
}

template <collpress_dtype dtype>
auto *operation_function(collpress_op op) {
    constexpr std::array functions = {&operate<dtype, COLLPRESS_SUM>, &operate<dtype, COLLPRESS_MAX>,
                                      &operate<dtype, COLLPRESS_MIN>, &operate<dtype, COLLPRESS_PROD>};
    return functions[static_cast<std::size_t>(op)];
}

MPI_Op make_user_operation(collpress_dtype dtype, collpress_op op) {
    MPI_Op made = MPI_OP_NULL;
    auto *function = dtype == COLLPRESS_FLOAT16 ? operation_function<COLLPRESS_FLOAT16>(op)
                                                : operation_function<COLLPRESS_BFLOAT16>(op);
    constexpr int commutative = 1;
#ifdef COLLPRESS_LARGE_COUNTS
    MPI_Op_create_c(function, commutative, &made);
#else
    MPI_Op_create(function, commutative, &made);
#endif
    return made;
}

// The largest count or displacement that the call passes.
std::size_t largest_number(const Exchange &exchange) {
    if (!has_counts(exchange.collective())) return exchange.count();
    std::size_t largest = 0;
    for (std::size_t rank = 0; rank < exchange.ranks(); ++rank) {
        largest = std::max({largest, exchange.contribution(rank), exchange.recv_elements(rank, false)});
    }
    return largest;
}

bool is_large(const Exchange &exchange) {
    return largest_number(exchange) > static_cast<std::size_t>(std::numeric_limits<int>::max());
}

template <typename Displacement, typename Count>
std::vector<Displacement> offsets(const std::vector<Count> &counts) {
    std::vector<Displacement> starts;
    Displacement next = 0;
    for (const Count count : counts) {
        starts.push_back(next);
        next += static_cast<Displacement>(count);
    }
    return starts;
}

template <typename Count, typename Displacement, typename Numbers>
Numbers numbers_of(const Exchange &exchange, std::size_t rank) {
    Numbers numbers;
    const std::size_t ranks = exchange.ranks();
    const std::vector<std::size_t> &counts = exchange.counts();
    numbers.count = static_cast<Count>(exchange.count());
    const Blocks blocks{exchange.count(), ranks};
    for (std::size_t peer = 0; peer < ranks; ++peer) {
        if (exchange.collective() == Collective::reduce_scatter)
            numbers.recv_counts.push_back(static_cast<Count>(blocks.size(peer)));
        if (exchange.collective() == Collective::allgatherv)
            numbers.recv_counts.push_back(static_cast<Count>(counts[peer]));
        if (exchange.collective() == Collective::alltoallv) {
            numbers.send_counts.push_back(static_cast<Count>(counts[rank * ranks + peer]));
            numbers.recv_counts.push_back(static_cast<Count>(counts[peer * ranks + rank]));
        }
    }
    if (exchange.collective() == Collective::allgatherv) numbers.count = static_cast<Count>(counts[rank]);
    numbers.send_offsets = offsets<Displacement>(numbers.send_counts);
    numbers.recv_offsets = offsets<Displacement>(numbers.recv_counts);
    return numbers;
}

} // namespace

LibraryCall::LibraryCall(const Exchange &exchange, const collpress_call &call, int rank, MPI_Comm comm)
    : collective_(exchange.collective()), rank_(rank), ranks_(static_cast<int>(exchange.ranks())),
      root_(static_cast<int>(exchange.root())), send_(call.send), recv_(call.recv),
      type_(datatype(static_cast<collpress_dtype>(call.dtype))), comm_(comm), is_large_(is_large(exchange)) {
    const auto rank_index = static_cast<std::size_t>(rank);
    if (knows_in_place(collective_) && exchange.contributes_in_recv(rank_index, call.send == nullptr))
        send_ = MPI_IN_PLACE;
    if (reduces(collective_)) {
        const auto dtype = static_cast<collpress_dtype>(call.dtype);
        const auto op = static_cast<collpress_op>(call.op);
        user_operation_ = needs_user_operation(collective_, dtype);
        op_ = user_operation_ ? make_user_operation(dtype, op) : library_operation(op);
    }
    if (is_large_)
        large_ = numbers_of<MPI_Count, MPI_Aint, decltype(large_)>(exchange, rank_index);
    else
        small_ = numbers_of<int, int, decltype(small_)>(exchange, rank_index);
}

LibraryCall::~LibraryCall() {
    if (user_operation_) MPI_Op_free(&op_);
}

template <typename Functions, typename Passed, typename... Request>
int LibraryCall::call(const Functions &functions, const Passed &arguments, Request... request) const {
    const auto count = arguments.count;
    const auto *counts = arguments.recv_counts.data();
    const auto *offsets = arguments.recv_offsets.data();
    switch (collective_) {
    case Collective::allreduce:
        return functions.allreduce(send_, recv_, count, type_, op_, comm_, request...);
    case Collective::reduce:
        return functions.reduce(send_, recv_, count, type_, op_, root_, comm_, request...);
    case Collective::reduce_scatter:
        return functions.reduce_scatter(send_, recv_, counts, type_, op_, comm_, request...);
    case Collective::allgather:
        return functions.allgather(send_, count, type_, recv_, count, type_, comm_, request...);
    case Collective::allgatherv:
        return functions.allgatherv(send_, count, type_, recv_, counts, offsets, type_, comm_, request...);
    case Collective::gather:
        return functions.gather(send_, count, type_, recv_, count, type_, root_, comm_, request...);
    case Collective::scatter:
        return functions.scatter(send_, count, type_, recv_, count, type_, root_, comm_, request...);
    case Collective::alltoall:
        return functions.alltoall(send_, count, type_, recv_, count, type_, comm_, request...);
    case Collective::alltoallv:
        return functions.alltoallv(send_, arguments.send_counts.data(), arguments.send_offsets.data(), type_, recv_,
                                   counts, offsets, type_, comm_, request...);
    case Collective::bcast:
        return functions.bcast(recv_, count, type_, root_, comm_, request...);
    case Collective::barrier:
        return functions.barrier(comm_, request...);
    case Collective::pingpong:
        break;
    }
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

template <typename Send, typename Receive, typename Count>
int LibraryCall::pingpong(Send send, Receive receive, Count count) const {
    constexpr int tag = 0;
    if (rank_ != 0 && rank_ != ranks_ - 1) return MPI_SUCCESS;
    const int peer = ranks_ - 1 - rank_;
    const auto get = [&] { return receive(recv_, count, type_, peer, tag, comm_, MPI_STATUS_IGNORE); };
    const auto give = [&] { return send(send_, count, type_, peer, tag, comm_); };
    const int first = rank_ == 0 ? give() : get();
    if (first != MPI_SUCCESS) return first;
    return rank_ == 0 ? get() : give();
}

int LibraryCall::run() const {
#ifdef COLLPRESS_LARGE_COUNTS
    if (is_large_) {
        return collective_ == Collective::pingpong ? pingpong(MPI_Send_c, MPI_Recv_c, large_.count)
                                                   : call(large_blocking, large_);
    }
#endif
    return collective_ == Collective::pingpong ? pingpong(MPI_Send, MPI_Recv, small_.count) : call(blocking, small_);
}

int LibraryCall::start(MPI_Request *request) const {
#ifdef COLLPRESS_LARGE_COUNTS
    if (is_large_) return call(large_starting, large_, request);
#endif
    return call(starting, small_, request);
}

std::string LibraryCall::refusal(const Exchange &exchange, collpress_dtype dtype, collpress_op op) {
    if (exchange.collective() == Collective::pingpong && exchange.ranks() < 2) return "a pingpong needs two ranks";
    if (!has_large_counts && is_large(exchange)) {
        return std::string(function(exchange.collective())) +
               " takes at most 2^31-1 elements, and this library has no functions for more (MPI 4)";
    }
    if (needs_user_operation(exchange.collective(), dtype) && reduction_of(dtype, op) == nullptr)
        return "MPI has no 16-bit floating point, and there is no operation of ours for it";
    return "";
}

const char *LibraryCall::function(Collective collective) {
    constexpr std::array<const char *, collective_names.size()> names = {
        "MPI_Allreduce", "MPI_Reduce",   "MPI_Reduce_scatter", "MPI_Allgather", "MPI_Allgatherv", "MPI_Gather",
        "MPI_Scatter",   "MPI_Alltoall", "MPI_Alltoallv",      "MPI_Bcast",     "MPI_Barrier",    "MPI_Send, MPI_Recv"};
    return names[static_cast<std::size_t>(collective)];
}

} // namespace collpress
