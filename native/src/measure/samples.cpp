#include "measure/samples.hpp"

#include "core/journal.hpp"
#include "measure/sha256.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace collpress {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "samples are written as they lie in memory, little-endian");

SamplesFile::SamplesFile(const std::string &path, SamplesMode mode, MPI_Comm comm)
    : path_(path), mode_(mode), comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
    if (mode == SamplesMode::none || rank_ != 0) return;
    file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    struct stat facts{};
    if (file_ < 0 || fstat(file_, &facts) != 0) {
        throw std::runtime_error("samples file " + path + " cannot be opened: " + std::strerror(errno));
    }
    offset_ = static_cast<std::uint64_t>(facts.st_size);
}

SamplesFile::~SamplesFile() {
    if (file_ >= 0) close(file_);
}

std::optional<SamplesEntry> SamplesFile::append(const Timings &timings) {
    if (mode_ == SamplesMode::none) return std::nullopt;
    const std::size_t n = timings.start_ns.size();
    std::vector<std::int64_t> values;
    if (mode_ == SamplesMode::summary) {
        for (const double value : timings.slowest_s) values.push_back(std::llround(value * 1e9));
    } else {
        std::vector<std::int64_t> own;
        for (std::size_t i = 0; i < n; ++i) {
            if (mode_ == SamplesMode::all) own.push_back(timings.start_ns[i]);
            own.push_back(mode_ == SamplesMode::all ? timings.end_ns[i] : timings.end_ns[i] - timings.start_ns[i]);
        }
        const auto length = static_cast<int>(own.size());
        if (rank_ == 0) values.resize(own.size() * static_cast<std::size_t>(size_));
        MPI_Gather(own.data(), length, MPI_INT64_T, values.data(), length, MPI_INT64_T, 0, comm_);
    }
    if (rank_ != 0 || offset_ + values.size() * sizeof(std::int64_t) > largest_file) return std::nullopt;
    return write(values);
}

SamplesEntry SamplesFile::write(const std::vector<std::int64_t> &values) {
    const std::size_t bytes = values.size() * sizeof(std::int64_t);
    write_all(file_, values.data(), bytes, path_);
    SamplesEntry entry{path_.substr(path_.rfind('/') + 1), offset_, bytes, sha256_hex(values.data(), bytes)};
    offset_ += bytes;
    return entry;
}

} // namespace collpress
