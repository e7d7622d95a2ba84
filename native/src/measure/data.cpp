#include "measure/data.hpp"

#include "core/verdict.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <tuple>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace collpress {

MappedFile::MappedFile(const std::string &path) {
    const auto fail = [&](const char *what) {
        throw std::runtime_error("data file " + path + " cannot be " + what + ": " + std::strerror(errno));
    };
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) fail("opened");
    struct stat facts{};
    if (fstat(file, &facts) != 0) {
        close(file);
        fail("examined");
    }
    size_ = static_cast<std::size_t>(facts.st_size);
    if (size_ != 0) {
        void *memory = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
        if (memory == MAP_FAILED) {
            close(file);
            fail("mapped");
        }
        data_ = static_cast<const std::byte *>(memory);
    }
    close(file);
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) munmap(const_cast<std::byte *>(data_), size_);
}

const MappedFile &DataCache::open(const std::string &path) {
    if (const auto known = files_.find(path); known != files_.end()) return known->second;
    return files_.emplace(std::piecewise_construct, std::forward_as_tuple(path), std::forward_as_tuple(path))
        .first->second;
}

Layout::Layout(const PlanPoint &point, const Exchange &exchange)
    : count_(exchange.largest_contribution()), ranks_(exchange.contributors()), parts_(point.data_parts.value_or(1)),
      part_elements_(point.data_elements / parts_), one_rank_a_part_(point.data_parts.has_value()), wrap_(point.wrap) {}

std::string Layout::refusal() const {
    if (count_ == 0) return {};
    if (wrap_ != Wrap::none) return part_elements_ == 0 ? "the dataset has no elements" : "";
    if (one_rank_a_part_ && ranks_ > parts_) {
        return "the dataset has " + std::to_string(parts_) + " parts, one for each rank, too few for " +
               std::to_string(ranks_) + " ranks";
    }
    if (one_rank_a_part_ && count_ > part_elements_) {
        return "a part of the dataset has " + std::to_string(part_elements_) + " elements, too few for a message of " +
               std::to_string(count_);
    }
    if (part_elements_ / count_ < (ranks_ + parts_ - 1) / parts_) {
        return "the dataset has " + std::to_string(part_elements_) + " elements, too few for " +
               std::to_string(ranks_) + " ranks with " + std::to_string(count_) + " each";
    }
    return {};
}

std::size_t Layout::distinct() const {
    std::size_t elements = 0;
    for (std::size_t part = 0; part < std::min(parts_, ranks_); ++part) {
        const std::size_t users = ranks_ / parts_ + (part < ranks_ % parts_ ? 1 : 0);
        elements += std::min(users * count_, part_elements_);
    }
    return elements;
}

Layout::Run Layout::run(std::size_t rank, std::size_t position) const {
    const std::size_t copy = position / part_elements_;
    const std::size_t offset = position % part_elements_;
    const bool backwards = wrap_ == Wrap::mirror && copy % 2 == 1;
    return {element(rank, backwards ? part_elements_ - 1 - offset : offset), part_elements_ - offset, backwards,
            copy != 0};
}

std::size_t unique_bytes(const PlanPoint &point, const Exchange &exchange) {
    std::size_t elements = std::min(Layout(point, exchange).distinct(), exchange.total_contribution());
    if (point.data_unique_bytes.has_value())
        elements = std::min(elements, *point.data_unique_bytes / point.stored_bytes());
    return elements * point.dtype.bytes;
}

std::optional<Substitutes> substitutes(collpress_dtype dtype, collpress_op op, std::size_t ranks) {
    Substitutes found;
    if (op == COLLPRESS_PROD) { // products would leave every dtype
        constexpr std::array<std::int32_t, 8> factors = {1, -1, 1, -1, 2, 1, -1, 3};
        for (std::size_t i = 0; i < found.size(); ++i) found[i] = factors[i % factors.size()];
        return found;
    }
    // So small that sums stay within the type: beyond, MPI leaves open what comes out, and Open MPI 5 indeed saturates
    // some sums of int8 and lets others wrap around.
    if (dtype != COLLPRESS_INT8 && dtype != COLLPRESS_INT16) return std::nullopt;
    const std::size_t largest = dtype == COLLPRESS_INT8 ? 127 : 32767;
    const auto divisor = static_cast<std::int32_t>((128 * ranks + largest - 1) / largest);
    if (divisor == 1) return std::nullopt;
    for (std::size_t i = 0; i < found.size(); ++i) found[i] = (static_cast<std::int32_t>(i) - 128) / divisor;
    return found;
}

DataSource::DataSource(const PlanPoint &point, Exchange exchange, const MappedFile *file)
    : dtype_(point.dtype), exchange_(std::move(exchange)), file_(file),
      substitutes_(substitutes(point.dtype.id, point.op, exchange_.ranks())) {
    if (file == nullptr) return;
    layout_ = Layout(point, exchange_);
    widens_ = point.data_bfloat16 && point.dtype.id != COLLPRESS_BFLOAT16;
    perturbs_ = point.wrap == Wrap::perturb;
    amplitude_ = point.wrap_amplitude;
    seed_ = point.wrap_seed;
    if (file->size() / point.stored_bytes() < point.data_elements) {
        throw PointError(Status::failed, "data file " + point.data_path + " has " + std::to_string(file->size()) +
                                             " bytes, not the " + std::to_string(point.data_elements) +
                                             " elements that the plan names");
    }
    const std::string refusal = layout_.refusal();
    if (!refusal.empty()) throw PointError(Status::unsupported, refusal);
}

void DataSource::copy(std::size_t rank, std::size_t first, std::size_t length, void *to) const {
    with_type(dtype_.id, [&]<typename T>(std::type_identity<T>) {
        auto *values = static_cast<T *>(to);
        const T *from = view(rank, first, length, values);
        if (from != values && length != 0) std::memcpy(to, from, length * dtype_.bytes);
    });
}

double ValueRange::magnitude() const {
    return maximum >= minimum ? std::max(std::fabs(minimum), std::fabs(maximum)) : 0;
}

namespace {

template <typename T>
ValueRange finite_range(const T *values, std::size_t count) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double low = infinity;
    double high = -infinity;
#pragma omp simd reduction(min : low) reduction(max : high)
    for (std::size_t i = 0; i < count; ++i) {
        const auto value = static_cast<double>(values[i]);
        const bool finite = std::fabs(value) <= std::numeric_limits<double>::max();
        const double least = finite ? value : infinity;
        const double most = finite ? value : -infinity;
        low = least < low ? least : low;
        high = high < most ? most : high;
    }
    return {low, high};
}

} // namespace

ValueRange value_range(const DataSource &data, std::size_t rank) {
    return with_type(data.dtype().id, [&]<typename T>(std::type_identity<T>) {
        std::array<T, 4096> buffer;
        ValueRange range = finite_range<T>(nullptr, 0);
        const std::size_t count = data.exchange().contribution(rank);
        for (std::size_t first = 0; first < count; first += buffer.size()) {
            const std::size_t length = std::min(buffer.size(), count - first);
            const ValueRange part = finite_range(data.view(rank, first, length, buffer.data()), length);
            range = {std::min(range.minimum, part.minimum), std::max(range.maximum, part.maximum)};
        }
        return range;
    });
}

} // namespace collpress
