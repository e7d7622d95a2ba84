// A rank's own block of an allgather or gather: in `send`, or, in place, where the result wants it.
#ifndef COLLPRESS_OWN_BLOCK_HPP
#define COLLPRESS_OWN_BLOCK_HPP

#include "collpress/p2p.hpp"

namespace collpress {

class OwnBlock {
  public:
    OwnBlock(const P2p &comm, const collpress_call &call, std::size_t offset, std::size_t elements)
        : comm_(comm), place_(comm.at(call.recv, offset)), source_(call.send == nullptr ? place_ : call.send),
          elements_(elements) {}

    // What can be sent at once, before the block is in its place.
    const void *source() const { return source_; }
    void copy_to_place() const {
        if (source_ != place_) comm_.copy(place_, source_, elements_);
    }

  private:
    const P2p &comm_;
    void *place_;
    const void *source_;
    std::size_t elements_;
};

} // namespace collpress

#endif
