#include "measure/feedback.hpp"

#include "measure/oracle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace collpress {

bool is_kept_round(std::size_t round) {
    if (round <= dense_rounds) return true;
    const auto step = [](std::size_t n) { return std::floor(8 * std::log2(static_cast<double>(n))); };
    return step(round) > step(round - 1);
}

Feedback::Feedback(const DataSource &data) : data_(data), reference_(data.exchange().count()) {
    const std::size_t ranks = data.exchange().ranks();
    const auto fill = [&]<typename T>(std::type_identity<T>) {
        Oracle<T> exact(data);
        exact.over(0, ranks, COLLPRESS_SUM);
        for (std::size_t first = 0; first < reference_.size(); first += oracle_chunk) {
            const std::size_t length = std::min(oracle_chunk, reference_.size() - first);
            exact.compute(first, length);
            exact.expected(length, reference_.data() + first);
        }
    };
    if (data.dtype().id == COLLPRESS_FLOAT64)
        fill(std::type_identity<double>());
    else
        fill(std::type_identity<float>());
    for (double &value : reference_) value /= static_cast<double>(ranks);
}

template <typename T>
FeedbackRound Feedback::compare(MPI_Comm world, const T *values, std::size_t moved,
                                const FeedbackReport &report) const {
    const std::size_t count = reference_.size();
    const double range = report.value_range;
    double largest = 0;
    std::array<double, 3> sums{}; // of errors, of their squares over the range, of lost elements
    for (std::size_t first = 0; first < count; first += oracle_chunk) {
        const std::size_t end = std::min(first + oracle_chunk, count);
        std::array<double, 3> part{};
        for (std::size_t i = first; i < end; ++i) { // of the reference
            if (!std::isfinite(reference_[i])) continue;
            const std::size_t now = i < moved ? i + count - moved : i - moved;
            const double error = static_cast<double>(values[now]) - reference_[i];
            if (!std::isfinite(error)) {
                part[2] += 1;
                continue;
            }
            largest = std::max(largest, std::fabs(error));
            part[0] += error;
            part[1] += (error / range) * (error / range); // NaN without a range, where all errors are 0, else infinite
        }
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += part[k];
    }
    int ranks = 1;
    MPI_Comm_size(world, &ranks);
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, world);
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), 3, MPI_DOUBLE, MPI_SUM, world);
    const double pairs = static_cast<double>(report.compared) * ranks;
    FeedbackRound found;
    found.lost = static_cast<std::uint64_t>(sums[2]);
    const bool defined = report.compared != 0 && found.lost == 0;
    constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
    found.max_abs_error = defined ? largest : undefined;
    found.nrmse = defined && range > 0 ? std::sqrt(sums[1] / pairs) : undefined;
    found.bias = defined ? sums[0] / pairs : undefined;
    return found;
}

FeedbackReport Feedback::operator()(MPI_Comm world, std::size_t asked, void *contribution, const void *recv,
                                    const std::function<void()> &run, const std::function<bool()> &go_on) const {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    FeedbackReport report;
    report.asked = asked;
    for (const double value : reference_) {
        if (!std::isfinite(value)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
        ++report.compared;
    }
    report.value_range = report.compared != 0 ? high - low : 0;
    const auto loop = [&]<typename T>(std::type_identity<T>) {
        auto *next = static_cast<T *>(contribution);
        const auto *result = static_cast<const T *>(recv);
        const auto ranks = static_cast<T>(data_.exchange().ranks());
        const std::size_t count = reference_.size();
        bool more = true;
        while (more) {
            run();
            for (std::size_t i = 1; i < count; ++i) next[i - 1] = result[i] / ranks;
            if (count != 0) next[count - 1] = result[0] / ranks;
            more = ++report.done < asked && go_on();
            if (more && !is_kept_round(report.done)) continue;
            report.rounds.push_back(compare(world, next, count == 0 ? 0 : report.done % count, report));
            report.rounds.back().round = report.done;
        }
    };
    if (data_.dtype().id == COLLPRESS_FLOAT64)
        loop(std::type_identity<double>());
    else
        loop(std::type_identity<float>());
    return report;
}

} // namespace collpress
