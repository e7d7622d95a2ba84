#include "measure/fidelity.hpp"

#include "measure/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <utility>

namespace collpress {

namespace {

static_assert(fidelity_chunk <= oracle_chunk);

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

template <typename T>
void widen(const T *from, std::size_t length, double *to) {
    for (std::size_t i = 0; i < length; ++i) to[i] = static_cast<double>(from[i]);
}

template <typename T>
PairReader typed_message_pairs(const T *message, const T *decompressed) {
    return [=](std::size_t first, std::size_t length, double *expected, double *got) {
        widen(message + first, length, expected);
        widen(decompressed + first, length, got);
    };
}

// Walks through the parts of a result. Pairs are asked for in order, or from the beginning again.
template <typename T>
class ResultPairs {
  public:
    ResultPairs(const DataSource &data, collpress_op op, std::size_t rank, const T *recv)
        : exact_(data), op_(op), parts_(data.exchange().result(rank)), recv_(recv) {}

    void read(std::size_t first, std::size_t length, double *expected, double *got) {
        if (first < before_) rewind();
        while (length != 0) {
            const ResultPart &part = parts_[next_];
            const std::size_t into = first - before_;
            const std::size_t here = std::min(length, part.length - std::min(into, part.length));
            if (here != 0) {
                exact_.over(part.from, part.from_end, op_);
                exact_.compute(part.source + into, here);
                exact_.expected(here, expected);
                widen(recv_ + part.first + into, here, got);
            }
            first += here;
            length -= here;
            expected += here;
            got += here;
            if (length == 0) break;
            before_ += part.length;
            ++next_;
        }
    }

  private:
    void rewind() {
        next_ = 0;
        before_ = 0;
    }

    Oracle<T> exact_;
    collpress_op op_;
    std::vector<ResultPart> parts_;
    const T *recv_;
    std::size_t next_ = 0;   // the part that was read last,
    std::size_t before_ = 0; // and how many elements lie in those before it
};

template <typename T>
PairReader typed_result_pairs(const DataSource &data, collpress_op op, std::size_t rank, const T *recv) {
    return [pairs = std::make_shared<ResultPairs<T>>(data, op, rank, recv)](std::size_t first, std::size_t length,
                                                                            double *expected, double *got) {
        pairs->read(first, length, expected, got);
    };
}

// The pairs whose values are all finite, and what is known of them before any is shown.
class FinitePairs {
  public:
    FinitePairs(std::size_t count, const PairReader &read) : count_(count), read_(read) {}

    // Calls use(expected, got, length) for each chunk that has any.
    template <typename Use>
    void each_chunk(Use &&use) {
        for (std::size_t first = 0; first < count_; first += fidelity_chunk) {
            const std::size_t length = next(first);
            const std::size_t kept = not_finite(length) == 0 ? length : compact(length);
            if (kept != 0) use(expected_.data(), got_.data(), kept);
        }
    }

    // A finite expected value counts for the range, whatever came out instead.
    // `beyond` counts those that are not within the bound; all of them where that is not known.
    collpress_metric_config survey(const Subject &subject, double bound, std::uint64_t &beyond) {
        double low = infinity;
        double high = -infinity;
        collpress_metric_config config{0, unknown, unknown, bound, 0, 0};
        for (std::size_t first = 0; first < count_; first += fidelity_chunk) {
            const std::size_t length = next(first);
            config.count += length - not_finite(length);
            beyond += beyond_bound(length, bound);
            const double *expected = expected_.data();
#pragma omp simd reduction(min : low) reduction(max : high)
            for (std::size_t i = 0; i < length; ++i) {
                const double value = expected[i];
                const double least = std::fabs(value) <= largest ? value : infinity;
                const double most = std::fabs(value) <= largest ? value : -infinity;
                low = least < low ? least : low;
                high = high < most ? most : high;
            }
        }
        if (low <= high) {
            config.minimum = low;
            config.maximum = high;
        }
        if (config.count == count_) {
            config.row = subject.row;
            config.plane = subject.plane;
        }
        return config;
    }

  private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr double largest = std::numeric_limits<double>::max();

    std::size_t next(std::size_t first) {
        const std::size_t length = std::min(fidelity_chunk, count_ - first);
        read_(first, length, expected_.data(), got_.data());
        return length;
    }

    // How many of the chunk's pairs have a value that is not finite; a sum of 1.0s vectorises.
    std::size_t not_finite(std::size_t length) const {
        const double *expected = expected_.data();
        const double *got = got_.data();
        double found = 0;
#pragma omp simd reduction(+ : found)
        for (std::size_t i = 0; i < length; ++i) {
            const double larger = std::fabs(expected[i]) <= largest ? std::fabs(got[i]) : infinity;
            found += larger <= largest ? 0.0 : 1.0;
        }
        return static_cast<std::size_t>(found);
    }

    std::size_t beyond_bound(std::size_t length, double bound) const {
        const double *expected = expected_.data();
        const double *got = got_.data();
        double found = 0;
#pragma omp simd reduction(+ : found)
        for (std::size_t i = 0; i < length; ++i) {
            const double error = std::fabs(expected[i]) <= largest ? std::fabs(got[i] - expected[i]) : 0;
            found += error <= bound ? 0.0 : 1.0;
        }
        return static_cast<std::size_t>(found);
    }

    std::size_t compact(std::size_t length) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < length; ++i) {
            expected_[kept] = expected_[i];
            got_[kept] = got_[i];
            kept += std::isfinite(expected_[i]) && std::isfinite(got_[i]) ? 1 : 0;
        }
        return kept;
    }

    std::size_t count_;
    const PairReader &read_;
    std::vector<double> expected_ = std::vector<double>(fidelity_chunk);
    std::vector<double> got_ = std::vector<double>(fidelity_chunk);
};

// One metric at work on one subject. Nothing that its plugin throws gets past it.
class Running {
  public:
    Running(const AskedMetric &asked, const collpress_metric_config &config) : asked_(asked), problem_(asked.problem) {
        guarded([&] {
            context_ = asked_.interface->create(&config);
            if (context_ == nullptr) problem_ = "it cannot be set up for these values";
        });
    }

    ~Running() {
        if (context_ == nullptr) return;
        problem_.clear();
        guarded([&] { asked_.interface->destroy(context_); });
    }

    Running(const Running &) = delete;
    Running &operator=(const Running &) = delete;

    void add(const double *expected, const double *got, std::size_t count) {
        guarded([&] { asked_.interface->add(context_, expected, got, count); });
    }

    MetricReport finish() {
        const std::size_t count = asked_.interface == nullptr ? 0 : asked_.interface->value_count;
        std::vector<double> values(count, unknown);
        guarded([&] {
            std::vector<double> stated(count, unknown);
            const char *why = asked_.interface->finish(context_, stated.data());
            problem_ = missing(stated, why);
            values = std::move(stated); // not what it wrote before it threw
        });
        MetricReport report{asked_.name, {}, problem_};
        for (std::size_t i = 0; i < count; ++i) report.values.emplace_back(asked_.interface->values[i].name, values[i]);
        return report;
    }

  private:
    // Does nothing without a metric, and once there is a problem.
    template <typename Step>
    void guarded(Step &&step) {
        if (asked_.interface == nullptr || !problem_.empty()) return;
        try {
            step();
        } catch (const std::exception &error) {
            problem_ = std::string("it threw an exception: ") + error.what();
        } catch (...) {
            problem_ = "it threw something that is no std::exception";
        }
    }

    // Empty when all values are finite.
    std::string missing(const std::vector<double> &values, const char *why) const {
        std::string names;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (!std::isfinite(values[i]))
                names += (names.empty() ? "" : ", ") + std::string(asked_.interface->values[i].name);
        }
        if (names.empty()) return names;
        if (why != nullptr && *why != '\0') return why;
        return names + (std::any_of(values.begin(), values.end(), [](double v) { return std::isinf(v); })
                            ? ": infinite or not a number"
                            : ": not a number");
    }

    const AskedMetric &asked_;
    void *context_ = nullptr;
    std::string problem_;
};

} // namespace

PairReader message_pairs(const void *message, const void *decompressed, collpress_dtype dtype) {
    if (dtype == COLLPRESS_FLOAT64)
        return typed_message_pairs(static_cast<const double *>(message), static_cast<const double *>(decompressed));
    return typed_message_pairs(static_cast<const float *>(message), static_cast<const float *>(decompressed));
}

PairReader result_pairs(const DataSource &data, collpress_op op, std::size_t rank, const void *recv) {
    if (data.dtype().id == COLLPRESS_FLOAT64)
        return typed_result_pairs(data, op, rank, static_cast<const double *>(recv));
    return typed_result_pairs(data, op, rank, static_cast<const float *>(recv));
}

SubjectReport measure_fidelity(const std::vector<AskedMetric> &metrics, const Subject &subject,
                               const PairReader &read) {
    SubjectReport report;
    report.bound = std::isfinite(subject.bound) && subject.bound >= 0 ? subject.bound : unknown;
    FinitePairs pairs(subject.count, read);
    const collpress_metric_config config = pairs.survey(subject, report.bound, report.beyond);
    report.left_out = subject.count - config.count;
    std::vector<std::unique_ptr<Running>> running;
    for (const AskedMetric &metric : metrics) running.push_back(std::make_unique<Running>(metric, config));
    pairs.each_chunk([&](const double *expected, const double *got, std::size_t length) {
        for (const auto &metric : running) metric->add(expected, got, length);
    });
    for (const auto &metric : running) report.metrics.push_back(metric->finish());
    return report;
}

} // namespace collpress
