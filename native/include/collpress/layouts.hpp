// Where the blocks of a vector lie: like Blocks of p2p.hpp, each has offset(block) and size(block), in elements.
#ifndef COLLPRESS_LAYOUTS_HPP
#define COLLPRESS_LAYOUTS_HPP

#include <cstddef>
#include <vector>

namespace collpress {

// All of the same size.
struct EqualBlocks {
    std::size_t each;

    std::size_t offset(std::size_t block) const { return block * each; }
    std::size_t size(std::size_t) const { return each; }
};

// Of any sizes, packed: block i has counts[i * stride] elements.
class PackedBlocks {
  public:
    PackedBlocks(const std::size_t *counts, std::size_t blocks, std::size_t stride = 1) : offsets_(blocks + 1) {
        for (std::size_t i = 0; i < blocks; ++i) offsets_[i + 1] = offsets_[i] + counts[i * stride];
    }

    std::size_t offset(std::size_t block) const { return offsets_[block]; }
    std::size_t size(std::size_t block) const { return offsets_[block + 1] - offsets_[block]; }

  private:
    std::vector<std::size_t> offsets_;
};

} // namespace collpress

#endif
