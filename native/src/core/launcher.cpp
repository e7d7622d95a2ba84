#include "core/launcher.hpp"

#include <cstdlib>
#include <string_view>

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

const char *name(Kind kind) { return kind == Kind::openmpi ? "Open MPI" : "MPICH"; }

} // namespace

long launcher_rank() {
    for (const char *variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (const char *text = std::getenv(variable); text != nullptr) return std::atol(text);
    }
    return 0;
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
