// Scratch memory for one call of an algorithm, kept for the next call.
#pragma once

#include "measure/buffer.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

namespace collpress {

class Arena {
  public:
    // Everything handed out may be handed out again.
    void rewind() { next_ = 0; }

    // Page-aligned. The n-th request after rewind() gets the n-th block again when that is large enough. An algorithm
    // has no error path and its peers already wait for it, so without memory the process can only end.
    void *take(std::size_t bytes) {
        try {
            if (next_ == blocks_.size()) blocks_.emplace_back();
            Buffer &block = blocks_[next_++];
            if (block.size() < bytes || block.data() == nullptr) block = Buffer(bytes);
            return block.data();
        } catch (const std::bad_alloc &) {
            std::fprintf(stderr,
                         "collpress-core: std::bad_alloc: no memory for %zu bytes of scratch inside a collective\n",
                         bytes);
            std::abort();
        }
    }

  private:
    std::vector<Buffer> blocks_;
    std::size_t next_ = 0;
};

} // namespace collpress
