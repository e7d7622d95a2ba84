// Throws at the second chunk of pairs.
#include "collpress/metric.hpp"

#include <stdexcept>

namespace {

class Throws {
  public:
    static constexpr collpress_metric_value values[] = {{"one", "1"}, {"two", "data"}};

    explicit Throws(const collpress_metric_config &) {}
    void add(const double *, const double *, std::size_t) {
        if (++chunks_ == 2) throw std::runtime_error("the second chunk is too much");
    }
    const char *finish(double *result) {
        result[0] = result[1] = 1;
        return nullptr;
    }

  private:
    int chunks_ = 0;
};

} // namespace

COLLPRESS_METRIC_PLUGIN(Throws, "throws an exception")
