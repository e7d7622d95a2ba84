// What a rank does when nobody hears from it: on SIGUSR2 it prints its stack and goes on.
#pragma once

namespace collpress {

void print_stack_on_signal(int rank);

} // namespace collpress
