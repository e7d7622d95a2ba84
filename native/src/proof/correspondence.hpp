// Names that the library and we have for one algorithm.
#pragma once

#include "core/collective.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace collpress {

// Our names for an algorithm of the library's: its own, unless the table knows better. Where equal trees have two
// orders, both; none where we have nothing like it.
inline std::vector<std::string> our_names(Collective collective, const std::string &library_name) {
    struct Pair {
        Collective collective;
        std::string_view library;
        std::string_view ours; // empty: none, whatever ours of the same name is
    };
    using enum Collective;
    constexpr std::array pairs = {Pair{allreduce, "basic_linear", "linear"},
                                  Pair{allreduce, "reduce_scatter_allgather", "rabenseifner"},
                                  Pair{allreduce, "recexch", "recursive_doubling"},
                                  Pair{reduce, "reduce_scatter_gather", "rabenseifner"},
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
                                  Pair{alltoall, "scattered", "rotation"},
                                  Pair{alltoallv, "basic_linear", "linear"},
                                  Pair{alltoallv, "scattered", "linear"},
                                  Pair{bcast, "basic_linear", "linear"},
                                  Pair{bcast, "binary_tree", "binary"},
                                  Pair{bcast, "binomial", "binomial_doubling"},
                                  Pair{bcast, "binomial", "binomial_halving"},
                                  Pair{bcast, "scatter_allgather", ""}, // by recursive doubling
                                  Pair{bcast, "scatter_allgather_ring", "scatter_allgather"},
                                  Pair{bcast, "scatter_ring_allgather", "scatter_allgather"},
                                  Pair{barrier, "bruck", "dissemination"},
                                  Pair{barrier, "k_dissemination", "dissemination"}};
    std::vector<std::string> names;
    bool told = false;
    for (const Pair &pair : pairs) {
        if (pair.collective != collective || pair.library != library_name) continue;
        told = true;
        if (!pair.ours.empty()) names.emplace_back(pair.ours);
    }
    if (!told) names.push_back(library_name);
    return names;
}

} // namespace collpress
