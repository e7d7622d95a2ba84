// Streams of several blocks, one behind the other, that travel together: first their lengths, then all of them as one
// message. Who receives a run knows then how long it is, so nothing is copied to send a part of it on.
//
// The lengths first, as J. Huang et al. (C-Coll, IPDPS 2024, doi:10.1109/IPDPS57955.2024.00072), who exchange them in
// one collective; here each hop does.
#ifndef COLLPRESS_PACKED_STREAMS_HPP
#define COLLPRESS_PACKED_STREAMS_HPP

#include "collpress/compressed.hpp"

namespace collpress {

class PackedStreams {
  public:
    // Room for the streams of so many blocks, each of at most `largest` elements. Takes scratch.
    PackedStreams(const P2p &comm, std::size_t blocks, std::size_t largest)
        : comm_(comm), capacity_(largest == 0 ? 0 : blocks * comm.capacity(largest)),
          data_(capacity_ == 0 ? nullptr : comm.scratch(capacity_)), lengths_(blocks), begins_(blocks + 1) {}

    std::size_t count() const { return count_; }

    void compress(const void *in, std::size_t elements) {
        const std::size_t begin = begins_[count_];
        lengths_[count_] = elements == 0 ? 0 : comm_.compress(in, elements, data_ + begin, comm_.capacity(elements));
        begins_[count_ + 1] = begin + lengths_[count_];
        ++count_;
    }
    void decompress(std::size_t index, void *out, std::size_t elements) const {
        if (elements != 0) comm_.decompress(data_ + begins_[index], lengths_[index], out, elements);
    }

    // The streams [first, first + blocks) are on their way until complete().
    void send(std::size_t first, std::size_t blocks, std::int32_t to) {
        open_.push_back(comm_.send_bytes(&lengths_[first], blocks * sizeof lengths_[0], to));
        const std::size_t bytes = begins_[first + blocks] - begins_[first];
        if (bytes != 0) open_.push_back(comm_.send_bytes(data_ + begins_[first], bytes, to));
    }
    // More streams, behind those that are here: they may be used when arrive() returns.
    void receive(std::size_t blocks, std::int32_t from) {
        from_ = from;
        awaited_ = blocks;
        lengths_to_come_ = comm_.receive_bytes(&lengths_[count_], blocks * sizeof lengths_[0], from);
    }
    // Their lengths are known now.
    void expect() {
        comm_.wait(lengths_to_come_);
        for (std::size_t i = count_; i < count_ + awaited_; ++i) begins_[i + 1] = begins_[i] + lengths_[i];
        const std::size_t bytes = begins_[count_ + awaited_] - begins_[count_];
        comes_ = bytes != 0;
        if (comes_) data_to_come_ = comm_.receive_bytes(data_ + begins_[count_], bytes, from_);
    }
    void arrive() {
        if (comes_) comm_.wait(data_to_come_);
        count_ += awaited_;
        awaited_ = 0;
    }
    void complete() {
        for (const collpress_request request : open_) comm_.wait(request);
        open_.clear();
    }

  private:
    P2p comm_;
    std::size_t capacity_;
    std::byte *data_;
    std::vector<std::uint64_t> lengths_;
    std::vector<std::size_t> begins_; // where a stream lies in `data_`; the next one's is its end
    std::size_t count_ = 0;
    std::vector<collpress_request> open_;
    std::int32_t from_ = 0;
    std::size_t awaited_ = 0;
    collpress_request lengths_to_come_ = 0;
    collpress_request data_to_come_ = 0;
    bool comes_ = false;
};

} // namespace collpress

#endif
