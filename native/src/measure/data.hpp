// The values that ranks send: from a file, or a pattern.
#pragma once

#include "core/plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>

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

// Which values of a file the ranks send. Rank r reads part r modulo `parts`, from the element on at which the ranks
// before it in the same part end; a field that is cut into consecutive slices is one part for all ranks. Behind the
// end of a part its values go on as `wrap` says.
class Layout {
  public:
    // Consecutive values of a part, in the file's order or against it.
    struct Run {
        std::size_t first; // element of the file
        std::size_t length;
        bool backwards;
        bool copy; // not the first time that they are sent
    };

    Layout() = default;
    Layout(const PlanPoint &point, std::size_t ranks);

    // Why the ranks cannot be served; empty when they can.
    std::string refusal() const;

    // Different elements of the file that all ranks together send.
    std::size_t distinct() const;

    std::size_t part(std::size_t rank) const { return rank % parts_; }
    // Where element `index` of a rank's message stands in its part, or how far behind its end.
    std::size_t position(std::size_t rank, std::size_t index) const { return rank / parts_ * count_ + index; }
    bool wraps(std::size_t position, std::size_t length) const { return position + length > part_elements_; }
    std::size_t element(std::size_t rank, std::size_t position) const { return part(rank) * part_elements_ + position; }
    // From a position on to the end of the part, or of its copy.
    Run run(std::size_t rank, std::size_t position) const;

  private:
    std::size_t count_ = 0; // of a message
    std::size_t ranks_ = 0;
    std::size_t parts_ = 1;
    std::size_t part_elements_ = 0;
    bool one_rank_a_part_ = false;
    Wrap wrap_ = Wrap::none;
};

// Bytes, as elements of the point's dtype, that come from different elements of the file; no more than the file has
// before its values begin to repeat themselves.
std::size_t unique_bytes(const PlanPoint &point, std::size_t ranks);

// The value of a bfloat16, which is the upper half of a float32.
inline float widened(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

// A number in [-1, 1) that depends on all bits of its arguments: the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
inline double noise(std::uint64_t seed, std::uint64_t part, std::uint64_t position) {
    std::uint64_t x = seed + part * 0xD1342543DE82EF95U + (position + 1) * 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return static_cast<double>(static_cast<std::int32_t>((x ^ (x >> 31)) >> 32)) * 0x1p-31;
}

// One point's data over all ranks, from a file (see Layout) or each rank's row of the pattern. Every rank can read
// every rank's message, which is what the oracle needs.
class DataSource {
  public:
    // `file` is null for the pattern. Throws PointError when the file cannot serve `ranks` ranks: unsupported when the
    // dataset is too small, failed when the file is shorter than the plan says.
    DataSource(const PlanPoint &point, std::size_t ranks, const MappedFile *file);

    const Dtype &dtype() const { return dtype_; }
    std::size_t count() const { return count_; }
    std::size_t ranks() const { return ranks_; }

    // Copies `length` elements of `rank`'s message, from element `first` on.
    void copy(std::size_t rank, std::size_t first, std::size_t length, void *to) const;

    // Those elements in place, or in `buffer` (of at least `length` elements) when they must be made.
    template <typename T>
    const T *view(std::size_t rank, std::size_t first, std::size_t length, T *buffer) const {
        if (file_ == nullptr) {
            for (std::size_t i = 0; i < length; ++i) buffer[i] = static_cast<T>(pattern_value(rank, first + i));
            return buffer;
        }
        const std::size_t position = layout_.position(rank, first);
        if (!bfloat16_ && !layout_.wraps(position, length))
            return reinterpret_cast<const T *>(file_->data()) + layout_.element(rank, position);
        make(rank, position, length, buffer);
        return buffer;
    }

  private:
    template <typename T>
    void make(std::size_t rank, std::size_t position, std::size_t length, T *to) const {
        while (length != 0) {
            const Layout::Run run = layout_.run(rank, position);
            const std::size_t n = std::min(length, run.length);
            for (std::size_t i = 0; i < n; ++i) to[i] = stored<T>(run.backwards ? run.first - i : run.first + i);
            if (run.copy && perturbs_) {
                for (std::size_t i = 0; i < n; ++i) to[i] = perturbed(to[i], layout_.part(rank), position + i);
            }
            to += n;
            position += n;
            length -= n;
        }
    }

    template <typename T>
    T stored(std::size_t element) const {
        if constexpr (std::is_same_v<T, float>) {
            if (bfloat16_) return widened(reinterpret_cast<const std::uint16_t *>(file_->data())[element]);
        }
        return reinterpret_cast<const T *>(file_->data())[element];
    }

    // Zeros, NaN and infinities stay what they are, and nothing becomes infinite. Values of a bfloat16 stay such
    // values.
    template <typename T>
    T perturbed(T value, std::size_t part, std::size_t position) const {
        if constexpr (std::is_floating_point_v<T>) {
            const double factor = 1 + amplitude_ * noise(seed_, part, position);
            T changed = static_cast<T>(static_cast<double>(value) * factor);
            if constexpr (std::is_same_v<T, float>) {
                if (bfloat16_) changed = rounded_to_bfloat16(changed);
            }
            return std::isfinite(changed) ? changed : value;
        }
        return value;
    }

    // To the nearest, ties to even.
    static float rounded_to_bfloat16(float value) {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        return widened(static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16));
    }

    Dtype dtype_;
    std::size_t count_;
    std::size_t ranks_;
    const MappedFile *file_;
    Layout layout_;
    bool bfloat16_ = false;
    bool perturbs_ = false;
    double amplitude_ = 0;
    std::uint64_t seed_ = 0;
};

// Of the finite values among some elements.
struct ValueRange {
    double minimum; // +inf and -inf when no value is finite
    double maximum;

    double width() const { return maximum >= minimum ? maximum - minimum : 0; }
    double magnitude() const;
};

// Of one rank's message; takes no memory to speak of.
ValueRange value_range(const DataSource &data, std::size_t rank);

} // namespace collpress
