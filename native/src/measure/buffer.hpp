// Page-aligned memory: alignment is a hidden factor of bandwidth, so it is the same for every buffer.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace collpress {

class Buffer {
  public:
    static constexpr std::size_t alignment = 65536; // the largest page of common machines

    Buffer() = default;
    // Throws std::bad_alloc. A buffer of 0 bytes has an address, too.
    explicit Buffer(std::size_t bytes) : size_(bytes) {
        void *memory = nullptr;
        if (posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) throw std::bad_alloc();
        data_.reset(static_cast<std::byte *>(memory));
    }

    std::byte *data() const { return data_.get(); }
    std::size_t size() const { return size_; }

  private:
    struct Free {
        void operator()(std::byte *memory) const { std::free(memory); }
    };
    std::unique_ptr<std::byte, Free> data_;
    std::size_t size_ = 0;
};

} // namespace collpress
