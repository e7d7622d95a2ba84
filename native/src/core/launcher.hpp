// Who started this process, by what it left in the environment.
#pragma once

#include <string>

namespace collpress {

// The rank according to the launcher, before MPI is started; 0 without one.
long launcher_rank();

// Says what every rank of a launch has found, once. A launcher ends all ranks as soon as one ends with an error, and
// loses what it has not read by then: so the first rank leaves time to be read, and the others wait to be ended.
void tell_once(const std::string &words);

// What is wrong, and how to mend it, when the launcher belongs to another kind of MPI than the library, whose own words
// are `library`: every rank would be a world of its own. Empty when they fit, or when either of them is not known.
std::string foreign_launcher(const std::string &library);

// Whether the library would rather end the process than start it alone: MPICH does so where a launcher speaks PMIx and
// it was built without.
bool cannot_start(const std::string &library);

} // namespace collpress
