#include "backends/mpi/library.hpp"

#include "core/suggestion.hpp"
#include "core/verdict.hpp"

#include <string_view>
#include <utility>

namespace collpress {

namespace {

std::unique_ptr<Controls> known_controls() {
    std::unique_ptr<Controls> controls = openmpi_controls();
    return controls ? std::move(controls) : mpich_controls();
}

} // namespace

Library::Library(MPI_Comm world) : world_(world), controls_(known_controls()) {
    algorithms_.push_back({"default", 0});
    if (!controls_) return;
    for (LibraryAlgorithm &algorithm : controls_->allreduce_algorithms()) algorithms_.push_back(std::move(algorithm));
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
    choice.algorithm = algorithm;
    if (controls_)
        choice = controls_->choose(world_, algorithm);
    else
        MPI_Comm_dup(world_, &choice.comm);
    MPI_Comm_set_errhandler(choice.comm, MPI_ERRORS_RETURN);
    return choice;
}

Verdict Library::judge(int error, const LibraryChoice &choice, const CallShape &call) const {
    if (controls_ && controls_->refuses_algorithm(error)) {
        return {Status::unsupported, "the library cannot use " + choice.algorithm.name + " for " +
                                         std::to_string(call.count) + " elements on " + std::to_string(call.ranks) +
                                         " ranks"};
    }
    return {Status::failed, "MPI_Allreduce returned error " + std::to_string(error)};
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
