// Is what the MPI library's algorithms give right? A line for each call on rank 0, written before the call and finished
// after it, so that a crash can be charged: the collective, the algorithm, what the call was like; then `ok`,
// `refused: REASON`, or what is wrong.
//
//   library-results COLLECTIVE...       under mpiexec
#include "backends/mpi/library.hpp"
#include "backends/mpi/library_call.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <mpi.h>

namespace {

using namespace collpress;

struct Form {
    std::size_t count;
    std::size_t root;
    bool in_place;
    bool starts; // MPI_I...
    LibrarySettings settings;
};

std::int32_t contribution(std::size_t rank, std::size_t element) {
    return static_cast<std::int32_t>((rank + 1) * 1000003 + element * 97);
}

class Caller {
  public:
    Caller() {
        int size = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        ranks_ = static_cast<std::size_t>(size);
    }

    void call_all(Collective collective) {
        for (const LibraryAlgorithm &algorithm : library_.algorithms(collective)) {
            for (const Form &form : forms(collective, algorithm)) {
                if (rank_ == 0) {
                    std::printf("%s %s count=%zu root=%zu%s%s%s%s ", name_of(collective).data(), algorithm.name.c_str(),
                                form.count, form.root, form.in_place ? " in-place" : "", form.starts ? " starts" : "",
                                form.settings.segment_bytes.has_value() ? " segments" : "",
                                form.settings.fanout.has_value() ? " fanout" : "");
                    std::fflush(stdout);
                }
                const Verdict mine = attempt([&] { call(collective, algorithm, form); });
                const Verdict verdict = agree(MPI_COMM_WORLD, mine);
                if (rank_ != 0) continue;
                const char *kind = verdict.status == Status::unsupported ? "refused: " : "";
                std::printf("%s%s\n", kind, verdict.ok() ? "ok" : verdict.reason.c_str());
            }
        }
    }

  private:
    std::vector<Form> forms(Collective collective, const LibraryAlgorithm &algorithm) const {
        const bool rooted = is_rooted(collective);
        std::vector<Form> all;
        for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{600}}) {
            if (collective == Collective::barrier && count != 0) break;
            for (std::size_t root = 0; root < (rooted ? ranks_ : 1); root += std::max<std::size_t>(ranks_ - 1, 1)) {
                all.push_back({count, root, false, false, {}});
                if (knows_in_place(collective)) all.push_back({count, root, true, false, {}});
                if (!algorithm.forced() && collective != Collective::pingpong)
                    all.push_back({count, root, false, true, {}});
            }
        }
        if (algorithm.segments) all.push_back({600, 0, false, false, {64, {}}});
        if (algorithm.least_fanout != 0) all.push_back({600, 0, false, false, {{}, 3}});
        return all;
    }

    void call(Collective collective, const LibraryAlgorithm &algorithm, const Form &form) {
        const auto rank = static_cast<std::size_t>(rank_);
        const Exchange exchange(collective, ranks_, form.count, form.root,
                                block_counts(collective, ranks_, form.count, Imbalance::random, 5));
        const std::string refusal = LibraryCall::refusal(exchange, COLLPRESS_INT32, COLLPRESS_SUM);
        if (!refusal.empty()) throw PointError(Status::unsupported, refusal);
        const LibraryChoice &choice = library_.choose(collective, algorithm.name, form.settings);
        const CallShape shape{form.count, 4 * form.count, ranks_, form.in_place};
        const std::string aborts = Library::refusal(choice, shape);
        if (!aborts.empty()) throw PointError(Status::unsupported, aborts);

        const bool place = exchange.contributes_in_recv(rank, form.in_place);
        std::vector<std::int32_t> send(exchange.contribution(rank) + 1); // never a null address
        std::vector<std::int32_t> recv(exchange.recv_elements(rank, form.in_place) + 1, -1);
        std::int32_t *own = place ? recv.data() + exchange.place(rank) : send.data();
        for (std::size_t i = 0; i < exchange.contribution(rank); ++i) own[i] = contribution(rank, i);
        const collpress_call what{place ? nullptr : send.data(),
                                  recv.data(),
                                  form.count,
                                  COLLPRESS_INT32,
                                  COLLPRESS_SUM,
                                  static_cast<std::int32_t>(form.root),
                                  exchange.counts().data(),
                                  0,
                                  0};
        const LibraryCall library_call(exchange, what, rank_, choice.comm);
        library_.engage(choice);
        const int error = make(library_call, form.starts);
        library_.release();
        if (error != MPI_SUCCESS) {
            const Verdict verdict = library_.judge(error, choice, shape);
            throw PointError(verdict.status, verdict.reason);
        }
        check(exchange, recv);
    }

    static int make(const LibraryCall &call, bool starts) {
        if (!starts) return call.run();
        MPI_Request request = MPI_REQUEST_NULL;
        const int error = call.start(&request);
        return error == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
    }

    void check(const Exchange &exchange, const std::vector<std::int32_t> &recv) const {
        for (const ResultPart &part : exchange.result(static_cast<std::size_t>(rank_))) {
            for (std::size_t i = 0; i < part.length; ++i) {
                std::int32_t expected = 0;
                for (std::size_t from = part.from; from < part.from_end; ++from)
                    expected += contribution(from, part.source + i);
                if (recv[part.first + i] != expected) throw std::runtime_error("wrong element");
            }
        }
        if (recv.back() != -1) throw std::runtime_error("wrote behind the end");
    }

    int rank_ = 0;
    std::size_t ranks_ = 0;
    Library library_{MPI_COMM_WORLD};
};

} // namespace

int main(int argc, char **argv) {
    int provided = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    {
        Caller caller;
        for (int i = 1; i < argc; ++i) caller.call_all(collective_of(argv[i]).value());
    }
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
