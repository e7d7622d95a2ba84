// The values that ranks send: slices of a file, or a pattern.
#pragma once

#include "core/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace collpress {

// A file mapped into memory, read-only.
class MappedFile {
  public:
    // Throws std::runtime_error, which names the file.
    explicit MappedFile(const std::string &path);
    ~MappedFile();
    MappedFile(const MappedFile &) = delete;
    MappedFile &operator=(const MappedFile &) = delete;

    const std::byte *data() const { return data_; }
    std::size_t size() const { return size_; }

  private:
    const std::byte *data_ = nullptr;
    std::size_t size_ = 0;
};

// Maps each file once.
class DataCache {
  public:
    const MappedFile &open(const std::string &path);

  private:
    std::map<std::string, MappedFile> files_;
};

// Whole numbers from -128 to 127, well mixed over ranks and indices, so that a wrong rank or a wrong place shows; their
// sums over up to 2^17 ranks are exact in float32.
inline std::int32_t pattern_value(std::uint64_t rank, std::uint64_t index) {
    auto x = static_cast<std::uint32_t>(index ^ (index >> 32)) * 0x9E3779B1U +
             static_cast<std::uint32_t>(rank) * 0x85EBCA77U;
    x = (x ^ (x >> 15)) * 0x2C1B3C6DU;
    x = (x ^ (x >> 12)) * 0x297A2D39U;
    return static_cast<std::int32_t>(x >> 24) - 128;
}

// One point's data over all ranks: rank r sends elements r·count ... (r+1)·count - 1 of the file, or its row of the
// pattern. Every rank can read every rank's slice, which is what the oracle needs.
class DataSource {
  public:
    // `file` is null for the pattern. Throws PointError when the file is too short for `ranks` slices: unsupported when
    // the dataset is too small, failed when the file is shorter than the plan says.
    DataSource(const PlanPoint &point, std::size_t ranks, const MappedFile *file);

    const Dtype &dtype() const { return dtype_; }
    std::size_t count() const { return count_; }
    std::size_t ranks() const { return ranks_; }

    // Copies `length` elements of `rank`'s slice, from element `first` on.
    void copy(std::size_t rank, std::size_t first, std::size_t length, void *to) const;

    // Those elements in place, or in `buffer` (of at least `length` elements) when they must be made.
    template <typename T>
    const T *view(std::size_t rank, std::size_t first, std::size_t length, T *buffer) const {
        if (file_ != nullptr) return reinterpret_cast<const T *>(file_->data()) + rank * count_ + first;
        for (std::size_t i = 0; i < length; ++i) buffer[i] = static_cast<T>(pattern_value(rank, first + i));
        return buffer;
    }

  private:
    Dtype dtype_;
    std::size_t count_;
    std::size_t ranks_;
    const MappedFile *file_;
};

// Of the finite values among some elements.
struct ValueRange {
    double minimum; // +inf and -inf when no value is finite
    double maximum;

    double width() const { return maximum >= minimum ? maximum - minimum : 0; }
    double magnitude() const;
};

// Of one rank's slice; takes no memory to speak of.
ValueRange value_range(const DataSource &data, std::size_t rank);

} // namespace collpress
