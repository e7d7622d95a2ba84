// A metric that is a Python function. `collpress build` makes a plugin of the function's file with this header; nobody
// else needs it.
//
// The plugin carries the file's text, so that what is measured is what was hashed. For each message or result a process
// of Python gets the text and all pairs through a socket, calls the function, and answers with its values. Whatever
// becomes of that process, an exception, a crash, silence, is a reason in words, and harms nobody else. Its interpreter
// is $COLLPRESS_PYTHON, else python3; it must find the package collpress (PYTHONPATH).
//
// What is sent, in the machine's byte order: the fields of collpress_metric_config, the number of values, the lengths
// of the texts below, the texts; then chunks: a number of pairs, the expected values, the others; a chunk of 0 pairs is
// the end. The answer: the number of values, the values, the length of a text, the text: why there are none, or empty.
#pragma once

#include "collpress/metric.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

// How long a process may be silent, and 2 us for each pair.
#ifndef COLLPRESS_PYTHON_PATIENCE_S
#define COLLPRESS_PYTHON_PATIENCE_S 12
#endif

extern char **environ; // NOLINT(readability-redundant-declaration): POSIX declares it nowhere

namespace collpress {

struct PythonSource {
    std::string_view name;      // of the file
    std::string_view text;      // of the file
    std::string_view made_with; // versions of Python and NumPy that the function may depend on
};

class PythonMetric {
  public:
    PythonMetric(const PythonSource &source, std::size_t values, const collpress_metric_config &config)
        : values_(values), patience_s_(COLLPRESS_PYTHON_PATIENCE_S + static_cast<double>(config.count) * 2e-6) {
        start();
        send_one(config.count);
        send_one(config.minimum);
        send_one(config.maximum);
        send_one(config.abs_bound);
        send_one(config.row);
        send_one(config.plane);
        send_one(std::uint64_t{values});
        for (const std::string_view text : {source.name, source.text, source.made_with})
            send_one(std::uint64_t{text.size()});
        for (const std::string_view text : {source.name, source.text, source.made_with})
            send_all(text.data(), text.size());
    }

    ~PythonMetric() { end(); }
    PythonMetric(const PythonMetric &) = delete;
    PythonMetric &operator=(const PythonMetric &) = delete;

    void add(const double *expected, const double *got, std::size_t count) {
        if (count == 0) return;
        send_one(std::uint64_t{count});
        send_all(expected, count * sizeof *expected);
        send_all(got, count * sizeof *got);
    }

    const char *finish(double *result) {
        std::fill_n(result, values_, std::numeric_limits<double>::quiet_NaN());
        send_one(std::uint64_t{0});
        std::vector<double> stated(values_);
        std::uint64_t count = 0;
        std::uint64_t length = 0;
        receive(&count, sizeof count);
        if (problem_.empty() && count != values_) problem_ = "its process gave an answer that is none";
        receive(stated.data(), values_ * sizeof(double));
        receive(&length, sizeof length);
        std::string why(problem_.empty() && length < longest_reason ? static_cast<std::size_t>(length) : 0, '\0');
        receive(why.data(), why.size());
        end();
        if (problem_.empty()) {
            std::copy(stated.begin(), stated.end(), result);
            problem_ = why;
        }
        return problem_.empty() ? nullptr : problem_.c_str();
    }

  private:
    static constexpr std::uint64_t longest_reason = 1 << 16;

    void start() {
        std::array<int, 2> ends{};
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
            problem_ = std::string("no socket can be made: ") + std::strerror(errno);
            return;
        }
        socket_ = ends[0];
        const timeval patience{static_cast<time_t>(patience_s_), 0};
        setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        const char *chosen = std::getenv("COLLPRESS_PYTHON"); // NOLINT(concurrency-mt-unsafe): nobody sets it here
        std::string python = chosen != nullptr && *chosen != '\0' ? chosen : "python3";
        std::string module = "collpress.metrics.child";
        std::string dash_m = "-m";
        std::array<char *, 4> arguments = {python.data(), dash_m.data(), module.data(), nullptr};
        posix_spawn_file_actions_t actions{};
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], 0); // which is not closed at the new program's start
        const int error = posix_spawnp(&child_, python.c_str(), &actions, nullptr, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        close(ends[1]);
        if (error == 0) return;
        child_ = -1;
        problem_ = python + " cannot be started: " + std::strerror(error);
    }

    template <typename T>
    void send_one(const T &value) {
        send_all(&value, sizeof value);
    }

    void send_all(const void *from, std::size_t bytes) {
        const char *left = static_cast<const char *>(from);
        while (bytes != 0 && problem_.empty()) {
            const ssize_t sent = send(socket_, left, bytes, MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR) continue;
            if (sent <= 0) return fail();
            left += sent;
            bytes -= static_cast<std::size_t>(sent);
        }
    }

    void receive(void *to, std::size_t bytes) {
        char *left = static_cast<char *>(to);
        while (bytes != 0 && problem_.empty()) {
            const ssize_t got = recv(socket_, left, bytes, 0);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return fail(got == 0);
            left += got;
            bytes -= static_cast<std::size_t>(got);
        }
    }

    // The process is silent, or gone: then it is waited for, and how it ended is the reason.
    void fail(bool ended = false) {
        if (!ended && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            problem_ = "no answer within " + std::to_string(static_cast<long>(patience_s_)) + " s";
            return end();
        }
        int status = 0;
        if (child_ > 0 && waitpid(child_, &status, 0) == child_) child_ = -1;
        problem_ = WIFSIGNALED(status) ? "its process was ended by signal " + std::to_string(WTERMSIG(status))
                                       : "its process ended with exit code " + std::to_string(WEXITSTATUS(status));
        end();
    }

    void end() {
        if (socket_ >= 0) close(socket_);
        socket_ = -1;
        if (child_ <= 0) return;
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
        child_ = -1;
    }

    std::size_t values_;
    double patience_s_;
    int socket_ = -1;
    pid_t child_ = -1;
    std::string problem_;
};

} // namespace collpress
