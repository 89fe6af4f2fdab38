// A link shared equally by Poisson arrivals is a processor-sharing queue: the mean time in it is
// s / (1 - rho) for a mean service time s and a load rho, whatever the distribution of sizes
// (Kleinrock, Queueing Systems vol. 2, 4.4; insensitivity: Kelly, Reversibility, 3.3).
//
// Tolerance: the mean is over 50 consecutive batches, each far longer than the queue's memory, so
// batch means are nearly independent; 4 standard errors of their mean leave 6e-5 to chance, and the
// seed is fixed. That this is less than 4 % of the mean is asserted, so that the test has teeth.
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/core/engine.hpp"
#include "sim/core/flow_network.hpp"

namespace tiersim::flow_network_test {
namespace {

constexpr double kMeanBytes = 1e6;    // 1 ms at 1 GB/s
constexpr double kServiceTime = 1e9;  // ps
constexpr std::int64_t kBatches = 50;

/// Poisson arrivals of flows on one link of 1 GB/s; the time each is there.
class Station final : public EventHandler {
 public:
  using Size = std::function<double(Rng&)>;

  Station(double load, Size size, std::int64_t flows)
      : gaps_(17, "gaps"),
        sizes_(17, "sizes"),
        size_(std::move(size)),
        gap_(kServiceTime / load),
        to_start_(flows),
        batch_(flows / kBatches) {
    link_ = network_.add_link("link", Bandwidth::from_base(1'000'000'000));
    sum_.assign(kBatches, 0.0);
    engine_.schedule(engine_.now(), *this, kArrival);
    engine_.run();
  }

  double mean() const {
    double sum = 0;
    for (const double s : sum_) sum += s / static_cast<double>(batch_);
    return sum / static_cast<double>(kBatches);
  }
  double standard_error() const {
    double squares = 0;
    for (const double s : sum_) squares += std::pow(s / static_cast<double>(batch_) - mean(), 2);
    return std::sqrt(squares / static_cast<double>(kBatches * (kBatches - 1)));
  }

  void on_event(Engine& engine, std::uint64_t payload) override {
    if (payload != kArrival) {
      const auto start = static_cast<std::int64_t>(payload);
      const std::int64_t index = finished_++ / batch_;
      if (index < kBatches)
        sum_[static_cast<std::size_t>(index)] +=
            static_cast<double>(engine.now().time_since_epoch().count() - start);
      return;
    }
    const auto bytes = Bytes::from_base(1 + static_cast<std::int64_t>(size_(sizes_)));
    const Hop hop{link_, bytes};
    network_.start({.hops = {&hop, 1}, .payload = bytes}, *this,
                   static_cast<std::uint64_t>(engine.now().time_since_epoch().count()));
    if (--to_start_ == 0) return;
    const auto gap = static_cast<std::int64_t>(gaps_.exponential(gap_));
    engine.schedule(engine.now() + Duration(gap), *this, kArrival);
  }

 private:
  static constexpr std::uint64_t kArrival = ~std::uint64_t{0};
  Engine engine_;
  FlowNetwork network_{engine_};
  LinkId link_;
  Rng gaps_;
  Rng sizes_;
  Size size_;
  double gap_;
  std::int64_t to_start_;
  std::int64_t finished_ = 0;
  std::int64_t batch_;
  std::vector<double> sum_;
};

double exponential(Rng& rng) {
  return rng.exponential(kMeanBytes);
}
double constant(Rng&) {
  return kMeanBytes;
}
/// One in ten is 8.2 times the mean, the others a fifth of it: a squared variation of 5.76.
double bimodal(Rng& rng) {
  return kMeanBytes * (rng.below(10) == 0 ? 8.2 : 0.2);
}

void expect_processor_sharing(double load, const Station::Size& size, std::int64_t flows) {
  const Station station(load, size, flows);
  const double expected = kServiceTime / (1 - load);
  EXPECT_NEAR(station.mean(), expected, 4 * station.standard_error());
  EXPECT_LT(4 * station.standard_error(), 0.04 * expected);
}

TEST(ProcessorSharing, ExponentialSizesAtHalfLoad) {
  expect_processor_sharing(0.5, exponential, 300'000);
}
TEST(ProcessorSharing, ExponentialSizesAtHighLoad) {
  expect_processor_sharing(0.8, exponential, 600'000);
}
TEST(ProcessorSharing, ConstantSizesTakeAsLongOnAverage) {
  expect_processor_sharing(0.5, constant, 300'000);
  expect_processor_sharing(0.8, constant, 600'000);
}
TEST(ProcessorSharing, ManySmallAndFewLargeTakeAsLongOnAverage) {
  expect_processor_sharing(0.5, bimodal, 300'000);
  expect_processor_sharing(0.7, bimodal, 1'500'000);
}

}  // namespace
}  // namespace tiersim::flow_network_test
