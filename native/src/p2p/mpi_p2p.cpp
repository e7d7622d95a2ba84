#include "p2p/mpi_p2p.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

namespace collpress {

namespace {

constexpr int tag = 0;

struct NoTag {
    NoTag(TagLog &, const char *, TagKind) {}
};

// For each rank the number of its machine, counted in the order of their first ranks.
std::vector<std::int32_t> nodes_of(MPI_Comm comm) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    int first = rank;
    MPI_Bcast(&first, 1, MPI_INT, 0, host);
    MPI_Comm_free(&host);
    std::vector<int> firsts(static_cast<std::size_t>(size));
    MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, comm);
    std::vector<std::int32_t> nodes(firsts.size());
    std::int32_t known = 0;
    for (std::size_t r = 0; r < firsts.size(); ++r) {
        const auto leader = static_cast<std::size_t>(firsts[r]);
        nodes[r] = leader == r ? known++ : nodes[leader];
    }
    return nodes;
}

} // namespace

// The functions of the C interface, with and without tags: timed iterations pay nothing for the tags.
template <bool tagged>
struct MpiP2p::Primitives {
    using Scope = std::conditional_t<tagged, TagScope, NoTag>;

    static MpiP2p &of(void *self) { return *static_cast<MpiP2p *>(self); }

    // Posts the pieces of a message; all but the first into `rest`.
    template <typename Post>
    static void pieces(Pending &pending, std::size_t bytes, Post &&post) {
        post(0, static_cast<int>(std::min(bytes, largest_message)), pending.request);
        pending.rest.clear();
        for (std::size_t at = largest_message; at < bytes; at += largest_message) {
            pending.rest.push_back(MPI_REQUEST_NULL);
            post(at, static_cast<int>(std::min(bytes - at, largest_message)), pending.rest.back());
        }
    }

    static collpress_request send(void *self, const void *buffer, std::size_t bytes, std::int32_t to) {
        MpiP2p &p2p = of(self);
        const Scope timed(p2p.log_, "send", TagKind::network);
        const collpress_request request = p2p.slot();
        p2p.bytes_sent_ += bytes;
        if constexpr (tagged) p2p.bytes_by_step_.back() += bytes;
        Pending &pending = p2p.pending_[static_cast<std::size_t>(request)];
        pending.known = bytes;
        pending.receives = false;
        pieces(pending, bytes, [&](std::size_t at, int length, MPI_Request &piece) {
            p2p.check(
                MPI_Isend(static_cast<const std::byte *>(buffer) + at, length, MPI_BYTE, to, tag, p2p.comm_, &piece),
                "MPI_Isend");
        });
        p2p.unreceived_ += static_cast<std::int64_t>(1 + pending.rest.size());
        return request;
    }

    static collpress_request receive(void *self, void *buffer, std::size_t capacity, std::int32_t from) {
        MpiP2p &p2p = of(self);
        const Scope timed(p2p.log_, "send", TagKind::network);
        const collpress_request request = p2p.slot();
        Pending &pending = p2p.pending_[static_cast<std::size_t>(request)];
        pending.known.reset();
        pending.receives = true;
        if (capacity > largest_message) pending.known = capacity;
        pieces(pending, capacity, [&](std::size_t at, int length, MPI_Request &piece) {
            p2p.check(MPI_Irecv(static_cast<std::byte *>(buffer) + at, length, MPI_BYTE, from, tag, p2p.comm_, &piece),
                      "MPI_Irecv");
        });
        p2p.unreceived_ -= static_cast<std::int64_t>(1 + pending.rest.size());
        return request;
    }

    static std::size_t wait(void *self, collpress_request request) {
        MpiP2p &p2p = of(self);
        const Scope timed(p2p.log_, "wait", TagKind::network);
        Pending &pending = p2p.pending_[static_cast<std::size_t>(request)];
        MPI_Status status;
        p2p.check(MPI_Wait(&pending.request, &status), "MPI_Wait");
        for (MPI_Request &piece : pending.rest) p2p.check(MPI_Wait(&piece, MPI_STATUS_IGNORE), "MPI_Wait");
        p2p.free_slots_.push_back(request);
        if (pending.known.has_value()) return *pending.known; // the status of a send has no count
        int bytes = 0;
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        return bytes == MPI_UNDEFINED ? 0 : static_cast<std::size_t>(bytes);
    }

    static void reduce(void *self, void *inout, const void *in, std::size_t count) {
        MpiP2p &p2p = of(self);
        const Scope timed(p2p.log_, "reduce", TagKind::reduction);
        p2p.setup_.reduction(inout, in, count);
    }

    static void copy(void *self, void *to, const void *from, std::size_t bytes) {
        const Scope timed(of(self).log_, "copy", TagKind::movement);
        std::memcpy(to, from, bytes);
    }

    static void *scratch(void *self, std::size_t bytes) { return of(self).arena_.take(bytes); }

    static std::size_t capacity(void *self, std::size_t count) {
        CodecContext &codec = *of(self).setup_.codec;
        return codec->max_bytes(codec.get(), count);
    }

    static std::size_t compress(void *self, const void *in, std::size_t count, void *out, std::size_t capacity) {
        MpiP2p &p2p = of(self);
        const Scope timed(p2p.log_, "compress", TagKind::codec);
        CodecContext &codec = *p2p.setup_.codec;
        std::size_t bytes = 0;
        const collpress_codec_result result = codec->compress(codec.get(), in, count, out, capacity, &bytes);
        if (result == COLLPRESS_CODEC_OK && bytes <= capacity) return bytes;
        if (result == COLLPRESS_CODEC_OK) {
            p2p.keep_fault("codec ", codec.name(), " wrote ", std::to_string(bytes), " bytes into ",
                           std::to_string(capacity));
        } else {
            p2p.keep_fault("codec ", codec.name(), " ", codec_result_text(result), " (compress, ",
                           std::to_string(count), " values)");
        }
        return 0; // the peer gets an empty stream, and its fault, instead of waiting for ever
    }

    static void decompress(void *self, const void *in, std::size_t bytes, void *out, std::size_t count) {
        MpiP2p &p2p = of(self);
        const Scope timed(p2p.log_, "decompress", TagKind::codec);
        CodecContext &codec = *p2p.setup_.codec;
        p2p.note_decompression(codec->decompress(codec.get(), in, bytes, out, count), bytes);
    }

    static void accumulate(void *self, const void *in, std::size_t bytes, void *inout, std::size_t count) {
        MpiP2p &p2p = of(self);
        CodecContext &codec = *p2p.setup_.codec;
        if (auto *const fused = p2p.accumulating(); fused != nullptr) {
            const Scope timed(p2p.log_, "decompress", TagKind::codec);
            p2p.note_decompression(fused(codec.get(), in, bytes, inout, count), bytes);
            return;
        }
        p2p.unpacked_.rewind();
        void *values = p2p.unpacked_.take(count * p2p.setup_.element_bytes);
        decompress(self, in, bytes, values, count);
        reduce(self, inout, values, count);
    }

    static std::size_t add(void *self, const void *a, std::size_t a_bytes, const void *b, std::size_t b_bytes,
                           std::size_t count, void *out, std::size_t capacity) {
        MpiP2p &p2p = of(self);
        const Scope timed(p2p.log_, "reduce", TagKind::reduction);
        CodecContext &codec = *p2p.setup_.codec;
        std::size_t bytes = 0;
        auto *const add_streams = codec.extras().add;
        if (add_streams == nullptr) {
            p2p.keep_fault("the algorithm adds streams and does not say that it needs to");
            return 0;
        }
        const collpress_codec_result result =
            add_streams(codec.get(), a, a_bytes, b, b_bytes, count, out, capacity, &bytes);
        if (result == COLLPRESS_CODEC_OK && bytes <= capacity) return bytes;
        if (result == COLLPRESS_CODEC_BAD_INPUT) {
            p2p.keep_verdict({Status::unsupported,
                              "codec " + codec.name() + " cannot add streams of these data without decompressing"});
        } else if (a_bytes == 0 || b_bytes == 0) {
            p2p.keep_verdict(p2p.without_stream());
        } else if (result == COLLPRESS_CODEC_OK) {
            p2p.keep_fault("codec ", codec.name(), " wrote ", std::to_string(bytes), " bytes into ",
                           std::to_string(capacity), " (add)");
        } else {
            p2p.keep_fault("codec ", codec.name(), " ", codec_result_text(result), " (add, ", std::to_string(count),
                           " values)");
        }
        return 0;
    }

    static void step(void *self) {
        if constexpr (tagged) {
            MpiP2p &p2p = of(self);
            if (std::exchange(p2p.stepped_, true)) p2p.bytes_by_step_.push_back(0);
            p2p.log_.step();
        }
    }

    static void tag_begin(void *self, const char *name) {
        if constexpr (tagged) of(self).log_.begin(name, TagKind::phase);
    }
    static void tag_end(void *self) {
        if constexpr (tagged) of(self).log_.end();
    }

    static std::int32_t node(void *self, std::int32_t rank) { return of(self).nodes_[static_cast<std::size_t>(rank)]; }

    static collpress_p2p table(MpiP2p &self, std::int32_t rank, std::int32_t size) {
        return {&self,    rank,     size,       0,          send, receive, wait, reduce,    copy,   scratch,
                capacity, compress, decompress, accumulate, add,  step,    node, tag_begin, tag_end};
    }
};

MpiP2p::MpiP2p(MPI_Comm parent) {
    MPI_Comm_dup(parent, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &size);
    nodes_ = nodes_of(comm_);
    plain_ = Primitives<false>::table(*this, rank, size);
    tagged_ = Primitives<true>::table(*this, rank, size);
}

MpiP2p::~MpiP2p() { MPI_Comm_free(&comm_); }

void MpiP2p::configure(const P2pSetup &setup) {
    setup_ = setup;
    plain_.element_bytes = tagged_.element_bytes = static_cast<std::uint32_t>(setup.element_bytes);
    verdict_ = {};
}

void MpiP2p::run(const collpress_algorithm &algorithm, const collpress_call &call, const collpress_p2p &table) {
    arena_.rewind();
    bytes_sent_ = 0;
    if (setup_.codec != nullptr) setup_.codec->begin_call();
    algorithm.run(&table, &call);
}

std::vector<TagEvent> MpiP2p::run_tagged(const collpress_algorithm &algorithm, const collpress_call &call) {
    log_.clear();
    bytes_by_step_.assign(1, 0);
    stepped_ = false;
    const TagScale::Look before = TagScale::look();
    log_.begin("call", TagKind::phase);
    run(algorithm, call, tagged_);
    log_.close();
    return log_.in_ns(TagScale(before, TagScale::look()));
}

// When every receive is complete each has taken a message of its own, so what was sent and what was received can be
// told apart by their numbers.
Verdict MpiP2p::settle() {
    std::array<std::int64_t, 2> left = {static_cast<std::int64_t>(pending_.size() - free_slots_.size()), unreceived_};
    MPI_Allreduce(MPI_IN_PLACE, left.data(), 2, MPI_INT64_T, MPI_SUM, comm_);
    if (left[0] != 0) {
        keep_fault("the algorithm returns before ", std::to_string(left[0]),
                   " of its requests are completed, over all ranks");
    } else if (left[1] != 0) {
        keep_fault("the algorithm leaves ", std::to_string(left[1]), " messages that no rank receives");
    }
    if (left[0] != 0 || left[1] != 0) put_aside();
    return verdict_;
}

// Later calls get a communicator that nothing is left on.
void MpiP2p::put_aside() {
    std::vector<bool> is_free(pending_.size());
    for (const collpress_request slot : free_slots_) is_free[static_cast<std::size_t>(slot)] = true;
    const auto drop = [](MPI_Request &request, bool receives) {
        if (request == MPI_REQUEST_NULL) return;
        if (receives) MPI_Cancel(&request);
        MPI_Request_free(&request);
    };
    for (std::size_t slot = 0; slot < pending_.size(); ++slot) {
        if (is_free[slot]) continue;
        drop(pending_[slot].request, pending_[slot].receives);
        for (MPI_Request &piece : pending_[slot].rest) drop(piece, pending_[slot].receives);
    }
    pending_.clear();
    free_slots_.clear();
    unreceived_ = 0;
    MPI_Comm fresh = MPI_COMM_NULL;
    MPI_Comm_dup(comm_, &fresh);
    MPI_Comm_free(&comm_);
    comm_ = fresh;
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

void MpiP2p::check(int mpi_result, const char *what) {
    if (mpi_result == MPI_SUCCESS) return;
    std::string text(MPI_MAX_ERROR_STRING, '\0');
    int length = 0;
    MPI_Error_string(mpi_result, text.data(), &length);
    text.resize(static_cast<std::size_t>(length));
    keep_fault(what, ": ", text);
}

void MpiP2p::note_decompression(collpress_codec_result result, std::size_t bytes) {
    if (result == COLLPRESS_CODEC_OK) return;
    if (bytes == 0) return keep_verdict(without_stream());
    keep_fault("codec ", setup_.codec->name(), " ", codec_result_text(result), " (decompress, ", std::to_string(bytes),
               " bytes)");
}

collpress_request MpiP2p::slot() {
    if (free_slots_.empty()) {
        pending_.emplace_back();
        return static_cast<collpress_request>(pending_.size() - 1);
    }
    const collpress_request request = free_slots_.back();
    free_slots_.pop_back();
    return request;
}

} // namespace collpress
