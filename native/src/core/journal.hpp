// The journal: one JSON line at a time, in the file before anything else happens.
#pragma once

#include <cstddef>
#include <string>

namespace collpress {

// Writes everything or throws std::runtime_error, which names the file.
void write_all(int file, const void *data, std::size_t bytes, const std::string &path);

class Journal {
  public:
    // Appends to `path`. What a killed writer left of its last line is cut off first: nobody reads it, and the next
    // line must not be glued to it.
    explicit Journal(const std::string &path);
    ~Journal();
    Journal(const Journal &) = delete;
    Journal &operator=(const Journal &) = delete;

    void append(const std::string &line);

  private:
    std::string path_;
    int file_ = -1;
};

} // namespace collpress
