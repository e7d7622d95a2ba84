// MPI_T control variables, found by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mpi.h>

namespace collpress {

// One value of a control variable: its name, and the number that the library reads.
struct NamedValue {
    std::string name;
    int number;
};

// An MPI_T control variable for integers.
class ControlVariable {
  public:
    ControlVariable() = default;
    ~ControlVariable();
    ControlVariable(const ControlVariable &) = delete;
    ControlVariable &operator=(const ControlVariable &) = delete;

    bool open(const std::string &name);
    bool is_open() const { return handle_ != MPI_T_CVAR_HANDLE_NULL; }
    // Some may only be set before the library starts.
    bool is_writable() const { return is_open() && writable_; }
    int read() const;
    bool write(int value) const; // and reads it back

    // Of its enumeration; where it has none, those that its description lists.
    std::vector<NamedValue> values() const;
    std::optional<int> value(std::string_view name) const;

  private:
    MPI_T_cvar_handle handle_ = MPI_T_CVAR_HANDLE_NULL;
    MPI_T_enum enumeration_ = MPI_T_ENUM_NULL;
    std::string description_;
    bool writable_ = false;
};

// The values that a description lists, one a line as `name - words`; the first is 0. So does MPICH describe the
// variables that it keeps as integers without an enumeration: the lines stand in the order of its numbers.
std::vector<NamedValue> described_values(std::string_view description);

} // namespace collpress
