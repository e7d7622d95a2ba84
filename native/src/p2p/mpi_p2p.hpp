// The point-to-point interface over MPI.
//
// Messages travel as bytes on a communicator of their own with one tag, so they match in the order posted. Faults are
// kept and reported after the call; the call itself always completes, because its peers wait for it. What an algorithm
// leaves behind must not meet the messages of the next one: see settle().
#pragma once

#include "collpress/algorithm.h"

#include "core/verdict.hpp"
#include "p2p/arena.hpp"
#include "p2p/codec_context.hpp"
#include "p2p/reduction.hpp"
#include "p2p/tag_log.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

namespace collpress {

// What a call needs besides its buffers; `codec` is null for algorithms that do not compress.
struct P2pSetup {
    std::size_t element_bytes;
    Reduction reduction;
    collpress_op op;
    CodecContext *codec;
};

class MpiP2p {
  public:
    // Collective over `parent`, which is duplicated.
    explicit MpiP2p(MPI_Comm parent);
    ~MpiP2p();
    MpiP2p(const MpiP2p &) = delete;
    MpiP2p &operator=(const MpiP2p &) = delete;

    // Longer messages are sent in pieces of this length, which needs a length that both sides know; so a stream of a
    // codec, which is received into a buffer that it need not fill, must not be longer.
    static constexpr std::size_t largest_message = std::size_t{1} << 30;

    void configure(const P2pSetup &setup);
    void run(const collpress_algorithm &algorithm, const collpress_call &call) { run(algorithm, call, plain_); }
    // The same with all that it does written down, the call itself first: slower, so never in timed iterations.
    std::vector<TagEvent> run_tagged(const collpress_algorithm &algorithm, const collpress_call &call);

    // Collective, between calls: whether on all ranks every request is completed and every message was received. Where
    // not, what is left is put aside for good. The first fault since configure() goes first.
    Verdict settle();

    std::size_t bytes_sent() const { return bytes_sent_; } // by this rank in the last call
    // Of them in each step, if the last call was tagged; what is sent before the first step counts as of that.
    const std::vector<std::uint64_t> &bytes_by_step() const { return bytes_by_step_; }
    const Verdict &verdict() const { return verdict_; } // the first fault since configure()

  private:
    template <bool tagged>
    struct Primitives;

    struct Pending {
        MPI_Request request = MPI_REQUEST_NULL;
        std::vector<MPI_Request> rest;    // of a message that MPI would not take in one piece
        std::optional<std::size_t> known; // bytes of a send, or of a message in pieces; else the status tells
        bool receives = false;
    };

    void run(const collpress_algorithm &algorithm, const collpress_call &call, const collpress_p2p &table);
    // The function of the codec that accumulates, where it does what the call's operation does; else null.
    auto accumulating() const { return setup_.op == COLLPRESS_SUM ? setup_.codec->extras().accumulate : nullptr; }
    // What is wrong is told by the rank that could not make the stream; its verdict is at least as bad.
    Verdict without_stream() const {
        return {Status::unsupported, "codec " + setup_.codec->name() + " made no stream"};
    }
    void note_decompression(collpress_codec_result result, std::size_t bytes);
    template <typename... Text>
    void keep_fault(const Text &...text) {
        keep_verdict({Status::failed, (std::string() + ... + text)});
    }
    void keep_verdict(Verdict verdict) {
        if (verdict_.ok()) verdict_ = std::move(verdict);
    }
    void check(int mpi_result, const char *what);
    collpress_request slot();
    void put_aside();

    MPI_Comm comm_ = MPI_COMM_NULL;
    collpress_p2p plain_{};
    collpress_p2p tagged_{};
    P2pSetup setup_{};
    std::vector<std::int32_t> nodes_; // of each rank
    Arena arena_;
    std::vector<Pending> pending_;
    std::vector<collpress_request> free_slots_;
    std::size_t bytes_sent_ = 0;
    std::vector<std::uint64_t> bytes_by_step_;
    bool stepped_ = false;        // in this call
    Arena unpacked_;              // one stream's values, on their way to a reduction
    std::int64_t unreceived_ = 0; // messages, or their pieces, that were sent, less those that are received
    TagLog log_;
    Verdict verdict_;
};

} // namespace collpress
