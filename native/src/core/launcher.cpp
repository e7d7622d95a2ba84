#include "core/launcher.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <dlfcn.h>

namespace collpress {

namespace {

enum class Kind { unknown, openmpi, mpich };

bool given(const char *variable) { return std::getenv(variable) != nullptr; }

// Open MPI's mpiexec speaks PMIx, MPICH's PMI-1; srun may speak either.
Kind launcher_kind() {
    if (given("PMIX_RANK") || given("OMPI_COMM_WORLD_RANK")) return Kind::openmpi;
    if (given("PMI_RANK") && (given("PMI_FD") || given("PMI_PORT"))) return Kind::mpich;
    return Kind::unknown;
}

Kind library_kind(std::string_view library) {
    if (library.starts_with("Open MPI")) return Kind::openmpi;
    return library.find("MPICH") != std::string_view::npos ? Kind::mpich : Kind::unknown;
}

const char *launcher_rank_text() {
    for (const char *variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (const char *text = std::getenv(variable); text != nullptr) return text;
    }
    return nullptr;
}

const char *name(Kind kind) { return kind == Kind::openmpi ? "Open MPI" : "MPICH"; }

} // namespace

long launcher_rank() {
    const char *text = launcher_rank_text();
    return text != nullptr ? std::atol(text) : 0;
}

void tell_once(const std::string &words) {
    using namespace std::chrono_literals;
    if (launcher_rank() != 0) return std::this_thread::sleep_for(5s);
    std::fprintf(stderr, "%s\n", words.c_str());
    if (launcher_rank_text() != nullptr) std::this_thread::sleep_for(500ms);
}

std::string foreign_launcher(const std::string &library) {
    const Kind launcher = launcher_kind();
    const Kind own = library_kind(library);
    if (launcher == Kind::unknown || own == Kind::unknown || launcher == own) return "";
    return std::string("the launcher is one of ") + name(launcher) + "'s kind (it speaks " +
           (launcher == Kind::openmpi ? "PMIx" : "PMI-1") + "), but this core was built with " + name(own) + " (" +
           library +
           "): every rank would be a world of its own\n  fix: start it with the mpiexec beside the mpicxx that built "
           "it, " +
           "or build it again with the MPI that the launcher belongs to";
}

bool cannot_start(const std::string &library) {
    return library_kind(library) == Kind::mpich && launcher_kind() == Kind::openmpi &&
           dlsym(RTLD_DEFAULT, "PMIx_Init") == nullptr;
}

} // namespace collpress
