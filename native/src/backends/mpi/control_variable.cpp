#include "backends/mpi/control_variable.hpp"

#include <algorithm>
#include <array>

namespace collpress {

namespace {

constexpr std::string_view name_letters = "abcdefghijklmnopqrstuvwxyz0123456789_";

std::vector<NamedValue> enumerated_values(MPI_T_enum enumeration) {
    std::vector<NamedValue> values;
    int count = 0;
    std::array<char, 256> text;
    int length = static_cast<int>(text.size());
    if (MPI_T_enum_get_info(enumeration, &count, text.data(), &length) != MPI_SUCCESS) return values;
    for (int i = 0; i < count; ++i) {
        int value = 0;
        length = static_cast<int>(text.size());
        if (MPI_T_enum_get_item(enumeration, i, &value, text.data(), &length) == MPI_SUCCESS) {
            values.push_back({text.data(), value});
        }
    }
    return values;
}

} // namespace

ControlVariable::~ControlVariable() {
    if (is_open()) MPI_T_cvar_handle_free(&handle_);
}

bool ControlVariable::open(const std::string &name) {
    int index = 0;
    if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return false;
    std::array<char, 256> text;
    std::vector<char> words(16384);
    int name_length = static_cast<int>(text.size());
    int description_length = static_cast<int>(words.size());
    int verbosity = 0;
    int bind = 0;
    int scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (MPI_T_cvar_get_info(index, text.data(), &name_length, &verbosity, &type, &enumeration_, words.data(),
                            &description_length, &bind, &scope) != MPI_SUCCESS) {
        return false;
    }
    description_ = words.data();
    writable_ = scope != MPI_T_SCOPE_CONSTANT && scope != MPI_T_SCOPE_READONLY;
    int size = 0;
    if (type == MPI_DATATYPE_NULL || bind != MPI_T_BIND_NO_OBJECT || MPI_Type_size(type, &size) != MPI_SUCCESS ||
        size > static_cast<int>(sizeof(int))) {
        return false;
    }
    int count = 0;
    if (MPI_T_cvar_handle_alloc(index, nullptr, &handle_, &count) == MPI_SUCCESS && count == 1) return true;
    if (is_open()) MPI_T_cvar_handle_free(&handle_);
    handle_ = MPI_T_CVAR_HANDLE_NULL;
    return false;
}

int ControlVariable::read() const {
    int value = 0;
    return is_open() && MPI_T_cvar_read(handle_, &value) == MPI_SUCCESS ? value : -1;
}

bool ControlVariable::write(int value) const {
    return is_open() && MPI_T_cvar_write(handle_, &value) == MPI_SUCCESS && read() == value;
}

std::vector<NamedValue> ControlVariable::values() const {
    return enumeration_ == MPI_T_ENUM_NULL ? described_values(description_) : enumerated_values(enumeration_);
}

std::optional<int> ControlVariable::value(std::string_view name) const {
    for (const NamedValue &known : values()) {
        if (known.name == name) return known.number;
    }
    return std::nullopt;
}

std::vector<NamedValue> described_values(std::string_view description) {
    std::vector<NamedValue> values;
    while (!description.empty()) {
        const std::size_t end = std::min(description.find('\n'), description.size());
        const std::string_view line = description.substr(0, end);
        const std::size_t length = std::min(line.find_first_not_of(name_letters), line.size());
        const std::size_t dash = line.find_first_not_of(' ', length);
        if (length != 0 && dash != std::string_view::npos && dash > length && line.substr(dash, 2) == "- ") {
            values.push_back({std::string(line.substr(0, length)), static_cast<int>(values.size())});
        }
        description.remove_prefix(std::min(end + 1, description.size()));
    }
    return values;
}

} // namespace collpress
