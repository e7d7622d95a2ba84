#include "backends/mpi/library.hpp"

#include "core/suggestion.hpp"
#include "core/verdict.hpp"

#include <array>

namespace collpress {

namespace {

constexpr const char *rules_name = "coll_tuned_use_dynamic_rules";
constexpr const char *algorithm_name = "coll_tuned_allreduce_algorithm";
constexpr const char *segment_name = "coll_tuned_allreduce_algorithm_segmentsize";

} // namespace

ControlVariable::~ControlVariable() {
    if (is_open()) MPI_T_cvar_handle_free(&handle_);
}

bool ControlVariable::open(const char *name) {
    int index = 0;
    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return false;
    std::array<char, 256> text;
    int name_length = static_cast<int>(text.size());
    int description_length = 0;
    int verbosity = 0;
    int bind = 0;
    int scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (MPI_T_cvar_get_info(index, text.data(), &name_length, &verbosity, &type, &enumeration_, nullptr,
                            &description_length, &bind, &scope) != MPI_SUCCESS) {
        return false;
    }
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

std::vector<LibraryAlgorithm> ControlVariable::values() const {
    std::vector<LibraryAlgorithm> values;
    if (enumeration_ == MPI_T_ENUM_NULL) return values;
    int count = 0;
    std::array<char, 256> text;
    int length = static_cast<int>(text.size());
    if (MPI_T_enum_get_info(enumeration_, &count, text.data(), &length) != MPI_SUCCESS) return values;
    for (int i = 0; i < count; ++i) {
        int value = 0;
        length = static_cast<int>(text.size());
        if (MPI_T_enum_get_item(enumeration_, i, &value, text.data(), &length) == MPI_SUCCESS) {
            values.push_back({text.data(), value});
        }
    }
    return values;
}

Library::Library(MPI_Comm world) : world_(world) {
    rules_.open(rules_name);
    algorithm_.open(algorithm_name);
    segment_.open(segment_name);
    algorithms_.push_back({"default", 0});
    if (!controlled()) return;
    for (const LibraryAlgorithm &value : algorithm_.values()) {
        if (value.id != 0) algorithms_.push_back(value); // 0 leaves the choice to the library
    }
}

Library::~Library() {
    for (auto &[name, choice] : choices_) MPI_Comm_free(&choice.comm);
}

const LibraryAlgorithm &Library::find(const std::string &name) const {
    std::vector<std::string_view> known;
    for (const LibraryAlgorithm &algorithm : algorithms_) {
        if (algorithm.name == name) return algorithm;
        known.push_back(algorithm.name);
    }
    throw PointError(Status::unsupported, "the library offers no allreduce algorithm \"" + name + "\"" +
                                              did_you_mean(name, known) + "; known: " + joined(known));
}

const LibraryChoice &Library::allreduce(const std::string &name) {
    if (const auto known = choices_.find(name); known != choices_.end()) return known->second;
    const LibraryAlgorithm &algorithm = find(name);
    return choices_.emplace(name, make(algorithm)).first->second;
}

LibraryChoice Library::make(const LibraryAlgorithm &algorithm) {
    LibraryChoice choice;
    choice.effective = algorithm.name;
    Verdict written;
    if (controlled()) {
        const bool forced = algorithm.id != 0;
        // Without a segment size the library runs the algorithm of the same name that has no segments.
        const bool segmented = forced && algorithm.name.find("segmented") != std::string::npos;
        const int segment = segmented ? LibraryChoice::bytes_of_a_segment : 0;
        if (!rules_.write(forced ? 1 : 0)) {
            written = {Status::unsupported, std::string("the library refuses to set ") + rules_name};
        } else if (!algorithm_.write(algorithm.id)) {
            written = {Status::unsupported, std::string("the library refuses ") + algorithm_name + " = " +
                                                std::to_string(algorithm.id) + " (" + algorithm.name + ")"};
        } else if (!segment_.write(segment) && segmented) {
            written = {Status::unsupported,
                       std::string("the library refuses to set ") + segment_name + " = " + std::to_string(segment)};
        }
        written = agree(world_, written); // a communicator is made by all or by none
        if (written.ok()) {
            MPI_Info info = MPI_INFO_NULL;
            MPI_Info_create(&info);
            if (forced) MPI_Info_set(info, "ompi_comm_coll_preference", "tuned");
            MPI_Comm_dup_with_info(world_, info, &choice.comm);
            MPI_Info_free(&info);
            choice.read_back = algorithm_.read() == algorithm.id && rules_.read() == (forced ? 1 : 0) &&
                               (!segmented || segment_.read() == segment);
            if (segmented) choice.segment_bytes = static_cast<std::size_t>(segment);
        }
        // What other communicators are made from now on is not affected.
        segment_.write(0);
        algorithm_.write(0);
        rules_.write(0);
        if (!written.ok()) throw PointError(written.status, written.reason);
    } else {
        MPI_Comm_dup(world_, &choice.comm);
    }
    MPI_Comm_set_errhandler(choice.comm, MPI_ERRORS_RETURN);
    return choice;
}

MPI_Datatype Library::datatype(collpress_dtype dtype) {
    switch (dtype) {
    case COLLPRESS_FLOAT32:
        return MPI_FLOAT;
    case COLLPRESS_FLOAT64:
        return MPI_DOUBLE;
    case COLLPRESS_INT32:
        return MPI_INT32_T;
    }
    return MPI_DATATYPE_NULL;
}

MPI_Op Library::operation(collpress_op op) { return op == COLLPRESS_SUM ? MPI_SUM : MPI_MAX; }

std::string Library::version() {
    std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    text.resize(static_cast<std::size_t>(length));
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text.substr(0, text.find('\n'));
}

} // namespace collpress
