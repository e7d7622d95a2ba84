// What does each rank send? Writes the messages of a plan's points, without MPI.
//
//   served-values PLAN RANKS CHUNK > MESSAGES      each point's ranks one behind another, read CHUNK elements at a time
//
// A point that cannot be served writes nothing; the reason goes to standard error.
#include "core/plan.hpp"
#include "core/verdict.hpp"
#include "measure/data.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv) {
    using namespace collpress;
    if (argc != 4) return 2;
    const auto ranks = static_cast<std::size_t>(std::atoi(argv[2]));
    const auto chunk = static_cast<std::size_t>(std::atoi(argv[3]));
    DataCache files;
    for (const PlanPoint &point : read_plan(argv[1])) {
        const Verdict verdict = attempt([&] {
            const DataSource data(point, point.exchange(ranks),
                                  point.from_file ? &files.open(point.data_path) : nullptr);
            std::vector<std::byte> piece(chunk * point.dtype.bytes);
            for (std::size_t rank = 0; rank < ranks; ++rank) {
                const std::size_t count = data.exchange().contribution(rank);
                for (std::size_t first = 0; first < count; first += chunk) {
                    const std::size_t length = std::min(chunk, count - first);
                    data.copy(rank, first, length, piece.data());
                    std::fwrite(piece.data(), point.dtype.bytes, length, stdout);
                }
            }
        });
        if (!verdict.ok()) std::fprintf(stderr, "%s\n", verdict.reason.c_str());
    }
    return 0;
}
