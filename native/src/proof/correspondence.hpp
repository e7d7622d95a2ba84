// Names that the library and we have for one algorithm.
#pragma once

#include "core/collective.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace collpress {

// Our names for an algorithm of the library's, its own name first: where equal trees have two orders, both.
inline std::vector<std::string> our_names(Collective collective, const std::string &library_name) {
    struct Pair {
        Collective collective;
        std::string_view library;
        std::string_view ours;
    };
    using enum Collective;
    constexpr std::array pairs = {Pair{allreduce, "reduce_scatter_allgather", "rabenseifner"},
                                  Pair{allreduce, "recexch", "recursive_doubling"},
                                  Pair{allgather, "neighbor", "neighbor_exchange"},
                                  Pair{allgather, "brucks", "bruck"},
                                  Pair{allgather, "k_brucks", "k_bruck"},
                                  Pair{allgatherv, "brucks", "bruck"},
                                  Pair{gather, "basic_linear", "linear"},
                                  Pair{scatter, "basic_linear", "linear"},
                                  Pair{scatter, "linear_nb", "linear"},
                                  Pair{alltoall, "modified_bruck", "bruck"},
                                  Pair{alltoall, "brucks", "bruck"},
                                  Pair{alltoall, "linear_sync", "linear"},
                                  Pair{alltoall, "scattered", "linear"},
                                  Pair{alltoallv, "basic_linear", "linear"},
                                  Pair{alltoallv, "scattered", "linear"},
                                  Pair{bcast, "basic_linear", "linear"},
                                  Pair{bcast, "binary_tree", "binary"},
                                  Pair{bcast, "binomial", "binomial_doubling"},
                                  Pair{bcast, "binomial", "binomial_halving"}};
    std::vector<std::string> names = {library_name};
    for (const Pair &pair : pairs) {
        if (pair.collective == collective && pair.library == library_name) names.emplace_back(pair.ours);
    }
    return names;
}

} // namespace collpress
