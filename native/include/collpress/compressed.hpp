// What algorithms that compress are built of: streams on their way, and the errors that add up.
//
// An algorithm is one source file:
//
//     COLLPRESS_COMPRESSING_PLUGIN("allreduce", run, error_bound, {.in_place = true}, "one line for people")
#ifndef COLLPRESS_COMPRESSED_HPP
#define COLLPRESS_COMPRESSED_HPP

#include "collpress/partial_sum.hpp"

#include <array>
#include <optional>
#include <vector>

namespace collpress {

// Where a campaign names no size of segments. Long enough for a codec to be quick and for the wire to be busy, short
// enough for compression, wire and decompression to work on neighbours at the same time, and to stay in a core's cache.
inline constexpr std::size_t usual_compressed_segment = std::size_t{64} * 1024; // elements

inline std::size_t compressed_segment(const collpress_call &call) {
    return call.segment_elements != 0 ? call.segment_elements : usual_compressed_segment;
}

// A stream in a buffer of its own. It may be on its way while it is unpacked, but not while it is written anew.
struct Stream {
    std::byte *data = nullptr;
    std::size_t capacity = 0;
    std::size_t bytes = 0;
    std::optional<collpress_request> request; // that must be complete before `data` is used again

    Stream() = default;
    // For any `elements` values. Takes scratch.
    Stream(const P2p &comm, std::size_t elements)
        : data(elements == 0 ? nullptr : comm.scratch(comm.capacity(elements))),
          capacity(elements == 0 ? 0 : comm.capacity(elements)) {}

    void complete(const P2p &comm) {
        if (request.has_value()) comm.wait(*request);
        request.reset();
    }
    void compress(const P2p &comm, const void *in, std::size_t elements) {
        complete(comm);
        if (elements != 0) bytes = comm.compress(in, elements, data, capacity);
    }
    // Empty blocks are not sent: both sides know the counts.
    void send(const P2p &comm, std::size_t elements, std::int32_t to) {
        if (elements != 0) request = comm.send_bytes(data, bytes, to);
    }
    void receive(const P2p &comm, std::size_t elements, std::int32_t from) {
        complete(comm);
        if (elements != 0) request = comm.receive_bytes(data, capacity, from);
    }
    void arrive(const P2p &comm) {
        if (request.has_value()) bytes = comm.wait(*request);
        request.reset();
    }
    void decompress(const P2p &comm, void *out, std::size_t elements) const {
        if (elements != 0) comm.decompress(data, bytes, out, elements);
    }
    void accumulate(const P2p &comm, void *inout, std::size_t elements) const {
        if (elements != 0) comm.accumulate(data, bytes, inout, elements);
    }
};

// A run of elements that is cut into segments, each one a stream of its own.
struct Segments {
    std::size_t elements;
    std::size_t segment;

    std::size_t count() const { return elements / segment + (elements % segment == 0 ? 0 : 1); }
    std::size_t first(std::size_t index) const { return std::min(index * segment, elements); }
    std::size_t size(std::size_t index) const { return first(index + 1) - first(index); }
};

// The longest stream that so many elements, cut into segments, can need.
inline std::size_t longest_segment(std::size_t elements, std::size_t segment) { return std::min(elements, segment); }

// A rank's vector in a reduction, where it adds what arrives as streams: its own contribution at first, which is copied
// to where the sum is kept when something is added. A part is copied once only: what is added to later lies within it.
class StreamedSum {
  public:
    // `work` has room for the whole vector, and is `own` in a call in place.
    StreamedSum(const P2p &comm, const void *own, void *work, std::size_t segment, std::size_t longest)
        : comm_(comm), own_(own), sum_(own), work_(work), segment_(segment) {
        for (Stream &stream : outgoing_) stream = Stream(comm, longest_segment(longest, segment));
        for (Stream &stream : incoming_) stream = Stream(comm, longest_segment(longest, segment));
    }

    // The sum so far.
    const std::byte *at(std::size_t element) const { return comm_.at(sum_, element); }
    std::byte *work(std::size_t element) const { return comm_.at(work_, element); }
    bool is_own() const { return sum_ == own_; }

    // Sends one part of the sum and adds what arrives to another. While a segment is compressed the one before is on
    // its way, and while one is added the next arrives. Marks no step.
    void exchange(std::size_t out, std::size_t out_elements, std::int32_t to, std::size_t in, std::size_t in_elements,
                  std::int32_t from) {
        const Segments sent{out_elements, segment_};
        const Segments got{in_elements, segment_};
        const auto receive = [&](std::size_t index) {
            if (index < got.count()) incoming_[index % 2].receive(comm_, got.size(index), from);
        };
        receive(0);
        receive(1);
        for (std::size_t index = 0; index < std::max(sent.count(), got.count() + 1); ++index) {
            if (index < sent.count()) {
                Stream &stream = outgoing_[index % 2];
                stream.compress(comm_, at(out + sent.first(index)), sent.size(index));
                stream.send(comm_, sent.size(index), to);
            }
            if (index == 0 || index > got.count()) continue;
            const std::size_t arrived = index - 1;
            add(in + got.first(arrived), incoming_[arrived % 2], got.size(arrived));
            receive(arrived + 2);
        }
        for (Stream &stream : outgoing_) stream.complete(comm_);
        if (in_elements != 0) sum_ = work_;
    }
    void send(std::size_t out, std::size_t elements, std::int32_t to) { exchange(out, elements, to, 0, 0, to); }
    void receive_and_add(std::size_t in, std::size_t elements, std::int32_t from) {
        exchange(0, 0, from, in, elements, from);
    }

  private:
    void add(std::size_t first, Stream &stream, std::size_t elements) const {
        if (sum_ != work_) comm_.copy(work(first), at(first), elements);
        stream.arrive(comm_);
        stream.accumulate(comm_, work(first), elements);
    }

    P2p comm_;
    const void *own_;
    const void *sum_;
    void *work_;
    std::size_t segment_;
    std::array<Stream, 2> outgoing_;
    std::array<Stream, 2> incoming_;
};

// The error that a codec adds when it compresses what is at most `magnitude` and is off by `error` already. Sums are
// rounded to the dtype before they are compressed; generous for float32.
class AddedError {
  public:
    AddedError(std::uint32_t op, double max_abs, collpress_worst_error worst_error, const void *codec_context)
        : is_sum_(op == COLLPRESS_SUM), max_abs_(max_abs), worst_error_(worst_error), codec_context_(codec_context) {}

    bool is_sum() const { return is_sum_; }
    // Of the reduction of so many ranks' values.
    double operator()(double contributions, double error) const {
        constexpr double rounding = 1 + 1e-6;
        const double exact = is_sum_ ? contributions * max_abs_ : max_abs_;
        return worst_error_(codec_context_, (exact + error) * rounding);
    }
    // Of `of` values that are each off by `error`, when they are reduced: a sum's errors add up; a maximum or minimum
    // passes on the error of one.
    double together(double of, double error) const { return is_sum_ ? of * error : error; }

  private:
    bool is_sum_;
    double max_abs_;
    collpress_worst_error worst_error_;
    const void *codec_context_;
};

// The error_bound of algorithms that only move data: every value is compressed once, whatever way its stream goes.
inline double error_of_moving(std::int32_t ranks, std::uint32_t, double max_abs, collpress_worst_error worst_error,
                              const void *codec_context) {
    return ranks < 2 ? 0 : worst_error(codec_context, max_abs);
}

constexpr collpress_algorithm compressing_algorithm(const char *collective,
                                                    void (*run)(const collpress_p2p *, const collpress_call *),
                                                    decltype(collpress_algorithm::error_bound) error_bound,
                                                    Abilities can) {
    collpress_algorithm algorithm = plain_algorithm(collective, run, can);
    algorithm.compresses = 1;
    algorithm.error_bound = error_bound;
    return algorithm;
}

} // namespace collpress

#define COLLPRESS_COMPRESSING_PLUGIN(collective, run, error_bound, abilities, summary)                                 \
    static constexpr collpress_algorithm collpress_algorithm_ =                                                        \
        collpress::compressing_algorithm(collective, run, error_bound, collpress::Abilities abilities);                \
    static constexpr collpress_plugin_t collpress_plugin_ = {COLLPRESS_ABI_VERSION, COLLPRESS_ALGORITHM, summary,      \
                                                             &collpress_algorithm_};                                   \
    extern "C" const collpress_plugin_t *collpress_plugin(void) { return &collpress_plugin_; }

#endif
