// Reduce-scatter and all-gather of compressed blocks around a ring.
//
// J. Huang et al.: An Optimized Error-controlled MPI Collective Framework Integrated with Lossy Compression (C-Coll).
// IPDPS 2024, doi:10.1109/IPDPS57955.2024.00072. Reduce-scatter: compress, send, decompress, reduce in each hop.
// All-gather: each block is compressed once by its owner and travels as that stream; the owner, too, takes what the
// stream decompresses to, so that all ranks end with the same bits. Each block is cut into segments: while one is
// compressed the one before is on its way, and the one before that is reduced (their sect. III-C, pipelined).
//
// Sums of streams: J. Huang et al.: hZCCL: Accelerating Collective Communication with Co-Designed Homomorphic
// Compression. SC 2024, doi:10.1109/SC41406.2024.00110.
#ifndef COLLPRESS_STREAM_RING_HPP
#define COLLPRESS_STREAM_RING_HPP

#include "collpress/compressed.hpp"
#include "collpress/ring.hpp"

namespace collpress {

// `Layout` has offset(block) and size(block), and blocks that are no longer than `largest`.
template <class Layout>
class StreamRing {
  public:
    StreamRing(const P2p &comm, const RingPlace &place, const Layout &layout, std::size_t largest, std::size_t segment)
        : comm_(comm), place_(place), layout_(layout), longest_(longest_segment(largest, segment)), segment_(segment),
          segments_(Segments{largest, segment}.count()) {}

    // Partial sums of blocks start `shift` places to the left; that of behind(shift + ranks - 1) ends here. The sum
    // that comes in step s is put to `target(s)`, which may be the rank's own contribution in `own`.
    template <class Target>
    void reduce_scatter(const void *own, std::int32_t shift, const Target &target) {
        std::array<Stream, 2> outgoing;
        for (Stream &stream : outgoing) stream = Stream(comm_, longest_);
        const auto send = [&](std::int32_t step, std::size_t index) {
            const Segments out = cut(step + shift);
            const std::byte *source = step == 0 ? own_block(own, shift) : target(step - 1);
            Stream &stream = outgoing[number(step, index) % 2];
            stream.compress(comm_, comm_.at(source, out.first(index)), out.size(index));
            stream.send(comm_, out.size(index), place_.right);
        };
        const auto finish = [&](std::int32_t step, std::size_t index, Stream &arrival) {
            const Segments in = cut(step + 1 + shift);
            std::byte *sum = comm_.at(target(step), in.first(index));
            const std::byte *addend = comm_.at(own_block(own, step + 1 + shift), in.first(index));
            if (sum != addend) comm_.copy(sum, addend, in.size(index));
            arrival.arrive(comm_);
            arrival.accumulate(comm_, sum, in.size(index));
        };
        pipeline(shift, send, finish);
        for (Stream &stream : outgoing) stream.complete(comm_);
    }

    // The same without decompressing: every rank's values are compressed once, and streams are added to streams.
    void add_and_scatter(const void *own, std::int32_t shift) {
        take_whole_blocks();
        Stream addend(comm_, longest_);
        const auto send = [&](std::int32_t step, std::size_t index) {
            const Segments out = cut(step + shift);
            Stream &stream = held_[turn(step)][index];
            if (step == 0) stream.compress(comm_, comm_.at(own_block(own, shift), out.first(index)), out.size(index));
            stream.send(comm_, out.size(index), place_.right);
        };
        const auto finish = [&](std::int32_t step, std::size_t index, Stream &arrival) {
            const Segments in = cut(step + 1 + shift);
            if (in.size(index) == 0) return;
            addend.compress(comm_, comm_.at(own_block(own, step + 1 + shift), in.first(index)), in.size(index));
            arrival.arrive(comm_);
            Stream &sum = held_[turn(step + 1)][index];
            sum.complete(comm_);
            sum.bytes = comm_.add(arrival.data, arrival.bytes, addend.data, addend.bytes, in.size(index), sum.data,
                                  sum.capacity);
        };
        pipeline(shift, send, finish);
        for (std::vector<Stream> &streams : held_)
            for (Stream &stream : streams) stream.complete(comm_);
        if (turn(place_.ranks - 1) == 1) std::swap(held_[0], held_[1]);
    }

    // Block behind(shift) is this rank's, and lies in `own`.
    void allgather(const void *own, std::int32_t shift, void *recv) {
        take_whole_blocks();
        pass_on(shift, recv, [&](std::size_t index, const Segments &out, Stream &stream) {
            stream.compress(comm_, comm_.at(own, out.first(index)), out.size(index));
        });
    }
    // It is there as streams already.
    void allgather_sums(std::int32_t shift, void *recv) {
        pass_on(shift, recv, [](std::size_t, const Segments &, Stream &) {});
    }

  private:
    std::size_t block(std::int32_t steps) const { return place_.behind(steps % place_.ranks); }
    Segments cut(std::int32_t steps) const { return {layout_.size(block(steps)), segment_}; }
    const std::byte *own_block(const void *own, std::int32_t steps) const {
        return comm_.at(own, layout_.offset(block(steps)));
    }
    std::size_t number(std::int32_t step, std::size_t index) const {
        return static_cast<std::size_t>(step) * segments_ + index;
    }
    static std::size_t turn(std::int32_t step) { return static_cast<std::size_t>(step % 2); }

    void take_whole_blocks() {
        for (std::vector<Stream> &streams : held_) {
            if (!streams.empty()) continue;
            for (std::size_t index = 0; index < segments_; ++index) streams.emplace_back(comm_, longest_);
        }
    }

    // All segments of all steps, one behind the other: a step's first segments are sent before the last ones of the
    // step before are summed. With one segment in a block there is nothing to do meanwhile.
    template <class Send, class Finish>
    void pipeline(std::int32_t shift, const Send &send, const Finish &finish) {
        std::array<Stream, 3> incoming;
        for (Stream &stream : incoming) stream = Stream(comm_, longest_);
        const std::size_t steps = static_cast<std::size_t>(place_.ranks - 1);
        const std::size_t lag = segments_ > 1 ? 1 : 0;
        const auto step_of = [&](std::size_t place) { return static_cast<std::int32_t>(place / segments_); };
        const auto receive = [&](std::size_t place) {
            incoming[place % 3].receive(comm_, cut(step_of(place) + 1 + shift).size(place % segments_), place_.left);
        };
        for (std::size_t place = 0; place < steps * segments_ + lag; ++place) {
            if (place < steps * segments_) {
                if (place % segments_ == 0) {
                    comm_.step();
                    receive(place);
                }
                if (place % segments_ + 1 < segments_) receive(place + 1);
                send(step_of(place), place % segments_);
            }
            if (place < lag) continue;
            const std::size_t done = place - lag;
            finish(step_of(done), done % segments_, incoming[done % 3]);
        }
    }

    template <class Fill>
    void pass_on(std::int32_t shift, void *recv, const Fill &fill) {
        std::vector<Stream> &held = held_[0];
        std::vector<Stream> &next = held_[1];
        const auto unpack = [&](std::int32_t steps, std::size_t index) {
            const Segments out = cut(steps);
            held[index].decompress(comm_, comm_.at(recv, layout_.offset(block(steps)) + out.first(index)),
                                   out.size(index));
        };
        for (std::int32_t step = 0; step < place_.ranks - 1; ++step) {
            comm_.step();
            const Segments out = cut(step + shift);
            const Segments in = cut(step + 1 + shift);
            for (std::size_t index = 0; index < segments_; ++index)
                next[index].receive(comm_, in.size(index), place_.left);
            for (std::size_t index = 0; index < segments_; ++index) {
                if (step == 0) fill(index, out, held[index]);
                held[index].send(comm_, out.size(index), place_.right);
            }
            for (std::size_t index = 0; index < segments_; ++index) { // while streams are on their way
                unpack(step + shift, index);
                next[index].arrive(comm_);
            }
            for (Stream &stream : held) stream.complete(comm_);
            std::swap(held, next);
        }
        for (std::size_t index = 0; index < segments_; ++index) unpack(place_.ranks - 1 + shift, index);
    }

    P2p comm_;
    RingPlace place_;
    Layout layout_;
    std::size_t longest_;
    std::size_t segment_;
    std::size_t segments_; // of the largest block
    std::array<std::vector<Stream>, 2> held_;
};

// A whole allreduce on a ring of some ranks: `sum` is what this one contributes, and may be `result`.
inline void stream_ring_allreduce(const P2p &comm, const RingPlace &place, const void *sum, void *result,
                                  std::size_t count, std::size_t segment) {
    const Blocks blocks{count, static_cast<std::size_t>(place.ranks)};
    StreamRing ring(comm, place, blocks, blocks.largest(), segment);
    const auto block = [&](std::int32_t step) { return comm.at(result, blocks.offset(place.behind(step + 1))); };
    {
        CP_TAG(comm, "reduce-scatter");
        ring.reduce_scatter(sum, 0, block);
    }
    CP_TAG(comm, "allgather");
    ring.allgather(block(place.ranks - 2), place.ranks - 1, result);
}

// What p ranks around a ring add up to: p - 1 hops of a growing sum, and one compression more for the all-gather. A
// maximum passes an error on, and each compression adds to it: at most p errors either way. For a codec bounded by eb
// at every magnitude this is p·eb. What is compressed in hop k has seen k contributions and the errors so far.
inline double error_of_ring(std::int32_t hops, const AddedError &added) {
    double error = 0;
    for (std::int32_t contributions = 1; contributions <= hops; ++contributions) error += added(contributions, error);
    return error;
}

} // namespace collpress

#endif
