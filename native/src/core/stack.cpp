#include "core/stack.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>

#include <sys/mman.h>
#include <unistd.h>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define COLLPRESS_HAS_BACKTRACE 1
#else
#define COLLPRESS_HAS_BACKTRACE 0
#endif

namespace collpress {

#if COLLPRESS_HAS_BACKTRACE

namespace {

// Made beforehand, for a handler may neither format nor allocate. The frames go through a file in memory, so that one
// write prints them: those of several ranks would be mixed up otherwise.
std::array<char, 16384> text;
std::size_t heading = 0;
int memory = -1;

void print_stack(int) {
    std::array<void *, 64> frames;
    const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
    if (lseek(memory, 0, SEEK_SET) != 0) return;
    backtrace_symbols_fd(frames.data(), depth, memory);
    const off_t written = lseek(memory, 0, SEEK_CUR);
    const std::size_t length = std::min(static_cast<std::size_t>(std::max<off_t>(written, 0)), text.size() - heading);
    const ssize_t got = pread(memory, text.data() + heading, length, 0);
    if (got < 0 || write(STDERR_FILENO, text.data(), heading + static_cast<std::size_t>(got)) < 0) return;
}

} // namespace

void print_stack_on_signal(int rank) {
    memory = memfd_create("stack", MFD_CLOEXEC);
    if (memory < 0) return;
    const int length = std::snprintf(text.data(), text.size(), "collpress-core: rank %d is here:\n", rank);
    heading = static_cast<std::size_t>(length);
    std::array<void *, 1> frame;
    backtrace(frame.data(), 1); // loads what the first call would have to, outside of the handler
    struct sigaction action{};
    action.sa_handler = print_stack;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR2, &action, nullptr);
}

#else

void print_stack_on_signal(int) {}

#endif

} // namespace collpress
