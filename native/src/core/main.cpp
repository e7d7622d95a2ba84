// collpress-core: plan in, records out. Command line, files and exit codes: docs/contracts.md.
#include "backends/mpi/library.hpp"
#include "core/command_line.hpp"
#include "core/json.hpp"
#include "core/launch.hpp"
#include "core/launcher.hpp"
#include "core/plan.hpp"
#include "core/plugin.hpp"
#include "core/schedules.hpp"
#include "core/stack.hpp"
#include "proof/prover.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <mpi.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

using namespace collpress;

constexpr int exit_bad_input = 2;
constexpr int exit_world_size = 4;
constexpr int exit_cannot_write = 5;

// A rank whose launcher was killed would spin for ever.
void die_with_parent() {
    const pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) std::raise(SIGKILL); // it died before the call above
}

class Mpi {
  public:
    Mpi(int *argc, char ***argv) {
        int provided = 0;
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
        MPI_Init(argc, argv);
    }
    ~Mpi() {
        MPI_T_finalize(); // first: the other way round Open MPI removes its shared-memory files twice, and says so
        MPI_Finalize();
    }
    Mpi(const Mpi &) = delete;
    Mpi &operator=(const Mpi &) = delete;
};

int measure(const Options &options, int *argc, char ***argv) {
    die_with_parent();
    const std::vector<PlanPoint> plan = read_plan(options.plan);
    const std::string library = Library::version();
    if (cannot_start(library)) {
        tell_once("collpress-core: " + foreign_launcher(library));
        return exit_world_size;
    }
    const Mpi mpi(argc, argv);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    print_stack_on_signal(rank);
    if (size != options.ranks) {
        const std::string foreign = foreign_launcher(library);
        const std::string words = "collpress-core: the launcher started " + std::to_string(size) +
                                  " ranks, the plan is for " + std::to_string(options.ranks) +
                                  (foreign.empty() ? "" : "\ncollpress-core: " + foreign);
        if (size == 1 || rank == 0) tell_once(words);
        MPI_Barrier(MPI_COMM_WORLD); // the others end after it
        return exit_world_size;
    }
    try {
        if (options.mode == Options::Mode::prove)
            run_proof(plan, options.journal, options.references, MPI_COMM_WORLD);
        else
            run_launch(options, plan, MPI_COMM_WORLD);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "collpress-core: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, exit_cannot_write); // the other ranks wait for this one
    }
    return 0;
}

// `in_place`: takes calls in place; `only_in_place`: takes no others.
void write_needs(Json &json, const LibraryNeeds &needs) {
    json.member("min_ranks", needs.exactly_ranks == 0 ? 1 : needs.exactly_ranks).key("exactly_ranks");
    if (needs.exactly_ranks == 0)
        json.null();
    else
        json.value(needs.exactly_ranks);
    json.member("power_of_two", needs.power_of_two_ranks)
        .member("even_ranks", needs.even_ranks)
        .member("count_at_least_ranks", needs.count_at_least_ranks)
        .member("count_multiple_of_ranks", needs.count_multiple_of_ranks)
        .member("commutative", needs.commutative)
        .member("in_place", needs.in_place.value_or(true))
        .member("only_in_place", needs.in_place.value_or(false));
}

void print_offers(int *argc, char ***argv) {
    const Mpi mpi(argc, argv);
    const Library library(MPI_COMM_WORLD);
    Json json;
    json.begin_object()
        .member("library", Library::version())
        .member("controls", library.controls())
        .key("algorithms")
        .begin_array();
    for (std::size_t i = 0; i < collective_names.size(); ++i) {
        for (const LibraryAlgorithm &algorithm : library.algorithms(static_cast<Collective>(i))) {
            json.begin_object()
                .member("collective", collective_names[i])
                .member("name", algorithm.name)
                .member("id", algorithm.id)
                .member("segments", algorithm.segments)
                .member("fanout", algorithm.least_fanout != 0)
                .member("least_fanout", algorithm.least_fanout);
            write_needs(json, algorithm.needs);
            json.end_object();
        }
    }
    json.end_array().end_object();
    std::printf("%s\n", json.text().c_str());
}

int run(const Options &options, int *argc, char ***argv) {
    switch (options.mode) {
    case Options::Mode::help:
        std::fputs(usage_text, stdout);
        return 0;
    case Options::Mode::describe:
        describe_plugins(options.plugins);
        return 0;
    case Options::Mode::offers:
        print_offers(argc, argv);
        return 0;
    case Options::Mode::schedule:
        print_schedule(options);
        return 0;
    case Options::Mode::check:
        print_check(options);
        return 0;
    case Options::Mode::measure:
    case Options::Mode::prove:
        return measure(options, argc, argv);
    }
    return exit_bad_input;
}

} // namespace

int main(int argc, char **argv) {
    try {
        return run(read_command_line({argv + 1, argv + argc}), &argc, &argv);
    } catch (const std::exception &error) {
        tell_once(error.what());
        return exit_bad_input;
    }
}
