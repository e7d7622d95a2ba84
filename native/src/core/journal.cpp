#include "core/journal.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace collpress {

namespace {

[[noreturn]] void fail(const std::string &path, const char *what) {
    throw std::runtime_error(path + " cannot be " + what + ": " + std::strerror(errno));
}

// Length of the file up to and including its last newline.
off_t whole_lines(int file, off_t size, const std::string &path) {
    std::array<char, 4096> block;
    while (size > 0) {
        const off_t start = size > static_cast<off_t>(block.size()) ? size - static_cast<off_t>(block.size()) : 0;
        const ssize_t got = pread(file, block.data(), static_cast<std::size_t>(size - start), start);
        if (got <= 0) fail(path, "read");
        for (ssize_t i = got - 1; i >= 0; --i) {
            if (block[static_cast<std::size_t>(i)] == '\n') return start + i + 1;
        }
        size = start;
    }
    return 0;
}

} // namespace

void write_all(int file, const void *data, std::size_t bytes, const std::string &path) {
    const char *rest = static_cast<const char *>(data);
    while (bytes != 0) {
        const ssize_t written = write(file, rest, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(path, "written");
        rest += written;
        bytes -= static_cast<std::size_t>(written);
    }
}

Journal::Journal(const std::string &path) : path_(path) {
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    struct stat facts{};
    if (file_ < 0 || fstat(file_, &facts) != 0) fail(path, "opened");
    const off_t whole = whole_lines(file_, facts.st_size, path);
    if (whole != facts.st_size && ftruncate(file_, whole) != 0) fail(path, "cut to whole lines");
}

Journal::~Journal() {
    if (file_ >= 0) close(file_);
}

void Journal::append(const std::string &line) {
    const std::string text = line + "\n";
    write_all(file_, text.data(), text.size(), path_);
}

} // namespace collpress
