#include "backends/mpi/library.hpp"

#include "backends/mpi/library_call.hpp"
#include "core/suggestion.hpp"

#include <string_view>
#include <utility>

namespace collpress {

namespace {

std::unique_ptr<Controls> known_controls() {
    std::unique_ptr<Controls> controls = openmpi_controls();
    return controls ? std::move(controls) : mpich_controls();
}

[[noreturn]] void decline(const std::string &why) { throw PointError(Status::unsupported, why); }

std::string described(Collective collective, const LibraryAlgorithm &algorithm) {
    return "the library's " + std::string(name_of(collective)) + " algorithm " + algorithm.name;
}

void check_settings(Collective collective, const LibraryAlgorithm &algorithm, const LibrarySettings &settings,
                    const std::vector<LibraryAlgorithm> &all) {
    const auto check = [&](bool asked, auto heeds, const char *what) {
        if (!asked || heeds(algorithm)) return;
        std::vector<std::string_view> able;
        for (const LibraryAlgorithm &other : all) {
            if (heeds(other)) able.push_back(other.name);
        }
        decline(described(collective, algorithm) + " takes no " + what + "; " +
                (able.empty() ? "none of this collective does" : "those that do: " + joined(able)));
    };
    check(settings.segment_bytes.has_value(), [](const LibraryAlgorithm &one) { return one.segments; }, "segment size");
    check(settings.fanout.has_value(), [](const LibraryAlgorithm &one) { return one.least_fanout != 0; }, "fan-out");
    if (settings.fanout.has_value() && *settings.fanout < algorithm.least_fanout) {
        decline(described(collective, algorithm) + " takes no fan-out below " + std::to_string(algorithm.least_fanout));
    }
}

} // namespace

Library::Library(MPI_Comm world) : world_(world), controls_(known_controls()) {
    int size = 0;
    MPI_Comm_size(world, &size);
    ranks_ = static_cast<std::size_t>(size);
    for (std::size_t i = 0; i < algorithms_.size(); ++i) {
        algorithms_[i].push_back({"default"});
        if (!controls_) continue;
        for (LibraryAlgorithm &algorithm : controls_->algorithms(static_cast<Collective>(i)))
            algorithms_[i].push_back(std::move(algorithm));
    }
}

Library::~Library() {
    for (auto &[key, choice] : choices_) MPI_Comm_free(&choice.comm);
}

const LibraryAlgorithm &Library::find(Collective collective, const std::string &name) const {
    std::vector<std::string_view> known;
    for (const LibraryAlgorithm &algorithm : algorithms(collective)) {
        if (algorithm.name == name) return algorithm;
        known.push_back(algorithm.name);
    }
    const std::string obstacle = controls_ ? controls_->obstacle(collective) : "";
    decline("the library offers no " + std::string(name_of(collective)) + " algorithm \"" + name + "\"" +
            did_you_mean(name, known) + "; known: " + joined(known) + (obstacle.empty() ? "" : "; " + obstacle));
}

const LibraryChoice &Library::choose(Collective collective, const std::string &name, const LibrarySettings &settings) {
    Key key{collective, name, settings};
    if (const auto known = choices_.find(key); known != choices_.end()) return known->second;
    const LibraryAlgorithm &algorithm = find(collective, name);
    check_settings(collective, algorithm, settings, algorithms(collective));
    const std::string missing = unmet({.exactly_ranks = algorithm.needs.exactly_ranks}, {0, 0, ranks_});
    if (!missing.empty()) decline(described(collective, algorithm) + " " + missing);
    return choices_.emplace(std::move(key), make(collective, algorithm, settings)).first->second;
}

LibraryChoice Library::make(Collective collective, const LibraryAlgorithm &algorithm, const LibrarySettings &settings) {
    LibraryChoice choice;
    if (controls_)
        choice = controls_->choose(world_, collective, algorithm, settings);
    else
        MPI_Comm_dup(world_, &choice.comm);
    choice.collective = collective;
    choice.algorithm = algorithm;
    MPI_Comm_set_errhandler(choice.comm, MPI_ERRORS_RETURN);
    return choice;
}

std::string Library::refusal(const LibraryChoice &choice, const CallShape &call) {
    const LibraryNeeds &needs = choice.algorithm.needs;
    const bool other_way = needs.in_place.value_or(false) && !call.in_place; // at no size and on no ranks
    const std::string missing = needs.aborts || other_way ? unmet(needs, call) : "";
    return missing.empty() ? "" : described(choice.collective, choice.algorithm) + " " + missing;
}

Verdict Library::judge(int error, const LibraryChoice &choice, const CallShape &call) const {
    if (controls_ && controls_->refuses_algorithm(error)) {
        return {Status::unsupported, "the library cannot use " + choice.algorithm.name + " for " +
                                         std::to_string(call.count) + " elements on " + std::to_string(call.ranks) +
                                         " ranks" + (call.in_place ? " in place" : "")};
    }
    return {Status::failed,
            std::string(LibraryCall::function(choice.collective)) + " returned error " + std::to_string(error)};
}

std::string Library::version() {
    std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    text.resize(static_cast<std::size_t>(length));
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text.substr(0, text.find('\n'));
}

} // namespace collpress
