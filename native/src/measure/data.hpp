// The values that ranks send: from a file, or a pattern.
#pragma once

#include "core/plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
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

// What stands for the pattern's values from -128 on, where they would leave the dtype.
using Substitutes = std::array<std::int32_t, 256>;
std::optional<Substitutes> substitutes(collpress_dtype dtype, collpress_op op, std::size_t ranks);

// Which values of a file the ranks contribute; where only some do, they are counted as ranks 0, 1, ... Rank r reads
// part r modulo `parts`, from the element on at which the ranks before it in the same part end; a field that is cut
// into consecutive slices is one part for all ranks. Behind the end of a part its values go on as `wrap` says.
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
    Layout(const PlanPoint &point, const Exchange &exchange);

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
    std::size_t count_ = 0; // of a contribution, the largest
    std::size_t ranks_ = 0;
    std::size_t parts_ = 1;
    std::size_t part_elements_ = 0;
    bool one_rank_a_part_ = false;
    Wrap wrap_ = Wrap::none;
};

// Bytes, as elements of the point's dtype, that come from different elements of the file; no more than the file has
// before its values begin to repeat themselves.
std::size_t unique_bytes(const PlanPoint &point, const Exchange &exchange);

// A number in [-1, 1) that depends on all bits of its arguments: the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
inline double noise(std::uint64_t seed, std::uint64_t part, std::uint64_t position) {
    std::uint64_t x = seed + part * 0xD1342543DE82EF95U + (position + 1) * 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return static_cast<double>(static_cast<std::int32_t>((x ^ (x >> 31)) >> 32)) * 0x1p-31;
}

// One point's data over all ranks, from a file (see Layout) or each rank's row of the pattern. Every rank can read
// every rank's contribution, which is what the oracle needs.
class DataSource {
  public:
    // `file` is null for the pattern. Throws PointError when the file cannot serve the exchange: unsupported when the
    // dataset is too small, failed when the file is shorter than the plan says.
    DataSource(const PlanPoint &point, Exchange exchange, const MappedFile *file);

    const Dtype &dtype() const { return dtype_; }
    const Exchange &exchange() const { return exchange_; }

    // Copies `length` elements of `rank`'s contribution, from element `first` on.
    void copy(std::size_t rank, std::size_t first, std::size_t length, void *to) const;

    // Those elements in place, or in `buffer` (of at least `length` elements) when they must be made.
    template <typename T>
    const T *view(std::size_t rank, std::size_t first, std::size_t length, T *buffer) const {
        if (file_ == nullptr) {
            if (substitutes_) {
                for (std::size_t i = 0; i < length; ++i) {
                    const std::int64_t value = pattern_value(rank, first + i);
                    buffer[i] = number<T>((*substitutes_)[static_cast<std::size_t>(value + 128)]);
                }
            } else { // vectorises
                for (std::size_t i = 0; i < length; ++i) buffer[i] = number<T>(pattern_value(rank, first + i));
            }
            return buffer;
        }
        const std::size_t contributor = exchange_.contributor(rank);
        const std::size_t position = layout_.position(contributor, first);
        if (!widens_ && !layout_.wraps(position, length))
            return reinterpret_cast<const T *>(file_->data()) + layout_.element(contributor, position);
        make(contributor, position, length, buffer);
        return buffer;
    }

  private:
    template <typename T>
    static T number(std::int32_t value) {
        if constexpr (Half<T>)
            return T(static_cast<float>(value));
        else
            return static_cast<T>(value);
    }

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
            if (widens_) return reinterpret_cast<const BFloat16 *>(file_->data())[element];
        }
        return reinterpret_cast<const T *>(file_->data())[element];
    }

    // Zeros, NaN and infinities stay what they are, and nothing becomes infinite. Values of a bfloat16 stay such
    // values.
    template <typename T>
    T perturbed(T value, std::size_t part, std::size_t position) const {
        const double factor = 1 + amplitude_ * noise(seed_, part, position);
        if constexpr (Half<T>) {
            const T changed(static_cast<float>(static_cast<double>(value) * factor));
            return std::isfinite(static_cast<float>(changed)) ? changed : value;
        } else if constexpr (std::is_floating_point_v<T>) {
            T changed = static_cast<T>(static_cast<double>(value) * factor);
            if constexpr (std::is_same_v<T, float>) {
                if (widens_) changed = BFloat16(changed);
            }
            return std::isfinite(changed) ? changed : value;
        } else {
            return value;
        }
    }

    Dtype dtype_;
    Exchange exchange_;
    const MappedFile *file_;
    Layout layout_;
    std::optional<Substitutes> substitutes_;
    bool widens_ = false; // the file holds bfloat16, the messages float32
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

// Of one rank's contribution; takes no memory to speak of.
ValueRange value_range(const DataSource &data, std::size_t rank);

} // namespace collpress
