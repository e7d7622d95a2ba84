// Memory whose alignment is exactly what was asked for: alignment is a hidden factor of bandwidth.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace collpress {

class Buffer {
  public:
    static constexpr std::size_t usual_alignment = 65536; // the largest page of common machines
    static constexpr std::size_t least_alignment = 64;    // so many bytes before the data are the buffer's own

    Buffer() = default;
    // The address is a multiple of `alignment`, a power of two, and not of its double. Throws std::bad_alloc. A buffer
    // of 0 bytes has an address, too.
    explicit Buffer(std::size_t bytes, std::size_t alignment = usual_alignment) : size_(bytes) {
        void *memory = nullptr;
        if (bytes > bytes + alignment || posix_memalign(&memory, 2 * alignment, bytes + alignment) != 0)
            throw std::bad_alloc();
        memory_.reset(static_cast<std::byte *>(memory));
        data_ = memory_.get() + alignment;
    }

    std::byte *data() const { return data_; }
    std::size_t size() const { return size_; }

  private:
    struct Free {
        void operator()(std::byte *memory) const { std::free(memory); }
    };
    std::unique_ptr<std::byte, Free> memory_;
    std::byte *data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace collpress
