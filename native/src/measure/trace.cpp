#include "measure/trace.hpp"

#include "core/journal.hpp"
#include "core/json.hpp"
#include "measure/sha256.hpp"

#include <cerrno>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace collpress {

TraceFile::TraceFile(const std::string &path, MPI_Comm comm, bool one_clock)
    : path_(path), comm_(comm), one_clock_(one_clock) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
    if (path.empty() || rank_ != 0) return;
    file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    struct stat facts{};
    if (file_ < 0 || fstat(file_, &facts) != 0) {
        throw std::runtime_error("trace file " + path + " cannot be opened: " + std::strerror(errno));
    }
    offset_ = static_cast<std::uint64_t>(facts.st_size);
}

TraceFile::~TraceFile() {
    if (file_ >= 0) close(file_);
}

// Moments count from rank 0's beginning of the iteration; with clocks of their own, from each rank's.
std::string TraceFile::lines(const std::string &key, const std::vector<TaggedRun> &runs) const {
    std::string text;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const TaggedRun &run = runs[i];
        std::int64_t origin = run.begin_ns;
        if (one_clock_) MPI_Bcast(&origin, 1, MPI_INT64_T, 0, comm_);
        Json json;
        json.begin_object().member("key", key).member("rank", rank_).member("iteration", i);
        json.member("origin", one_clock_ ? "rank 0" : "own");
        json.member("begin_ns", run.begin_ns - origin).member("ns", run.end_ns - run.begin_ns);
        json.key("events").begin_array();
        for (const TagEvent &event : run.events) {
            json.begin_array().value(event.name).value(tag_kind_names[static_cast<std::size_t>(event.kind)]);
            if (event.parent == TagEvent::none)
                json.null();
            else
                json.value(event.parent);
            json.value(event.begin - origin).value(event.ns()).end_array();
        }
        json.end_array().end_object();
        text += json.text() + '\n';
    }
    return text;
}

std::optional<SamplesEntry> TraceFile::append(const std::string &key, const std::vector<TaggedRun> &own) {
    if (path_.empty()) return std::nullopt;
    const std::string text = lines(key, own);
    std::int64_t length = static_cast<std::int64_t>(text.size());
    std::int64_t total = 0;
    MPI_Allreduce(&length, &total, 1, MPI_INT64_T, MPI_SUM, comm_);
    std::int64_t fits = offset_ + static_cast<std::uint64_t>(total) <= largest_file ? 1 : 0;
    MPI_Bcast(&fits, 1, MPI_INT64_T, 0, comm_);
    if (fits == 0) return std::nullopt;
    const int mine = static_cast<int>(length);
    std::vector<int> lengths(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
    MPI_Gather(&mine, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm_);
    std::vector<int> offsets(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
    std::string all(rank_ == 0 ? static_cast<std::size_t>(total) : 0, '\0');
    MPI_Gatherv(text.data(), mine, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0, comm_);
    if (rank_ != 0) return std::nullopt;
    write_all(file_, all.data(), all.size(), path_);
    SamplesEntry entry{path_.substr(path_.rfind('/') + 1), offset_, all.size(), sha256_hex(all.data(), all.size())};
    offset_ += all.size();
    return entry;
}

} // namespace collpress
