// Networks of queues: two in tandem (Burke) and a closed one (exact mean value analysis).
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "sim/core/engine.hpp"
#include "tests/theory/station.hpp"

namespace tiersim::theory::networks_test {
namespace {

constexpr std::uint64_t kSeed = 21;

class Tandem {
 public:
  Tandem(double rate, double mean_second, std::int64_t customers)
      : arrivals_(kSeed, "arrivals"), services_(kSeed, "services") {
    engine_.spawn(arrive(1.0 / rate, mean_second, customers));
    engine_.run();
  }
  const Station& first() const { return first_; }
  const Station& second() const { return second_; }

 private:
  Process customer(Duration service_first, Duration service_second) {
    co_await first_.visit(service_first);
    co_await second_.visit(service_second);
  }
  Process arrive(double mean_gap, double mean_second, std::int64_t customers) {
    for (std::int64_t i = 0; i < customers; ++i) {
      const Duration gap = units(arrivals_.exponential(mean_gap));
      co_await engine_.delay(gap);
      const Duration service_first = units(services_.exponential(1.0));
      const Duration service_second = units(services_.exponential(mean_second));
      engine_.spawn(customer(service_first, service_second));
    }
  }

  Rng arrivals_;
  Rng services_;
  Engine engine_;
  Station first_{engine_};
  Station second_{engine_};
};

// Burke 1956: what leaves an M/M/1 queue is Poisson again, so the second is M/M/1 too: waits r s /
// (1 - r) with r = 0.5 and 0.8 for services s = 1 and 1.6. Tolerances as in single_queue_test.cpp:
// of the 1.2e6 customers that give 2 % at 0.8 a part k, so 1.5 * 2 % / sqrt(k); the first queue,
// for which 3e5 would do, is better.
TEST(TandemTheory, BothQueuesAreAsIfAlone) {
  const double tolerance = 1.5 * 0.02 / std::sqrt(part_of_samples());
  const Tandem tandem(0.5, 1.6, static_cast<std::int64_t>(1.2e6 * part_of_samples()));
  EXPECT_NEAR(tandem.first().wait().mean() / 1.0, 1.0, tolerance) << "seed " << kSeed;
  EXPECT_NEAR(tandem.second().wait().mean() / (0.8 * 1.6 / 0.2), 1.0, tolerance)
      << "seed " << kSeed;
  tandem.first().expect_littles_law();
  tandem.second().expect_littles_law();
}

/// Cycles a unit of time, by exact mean value analysis (Reiser and Lavenberg 1980): exponential
/// FIFO stations of the given mean services, `think` between cycles.
double mva_throughput(int clients, double think, const std::vector<double>& services) {
  std::vector<double> length(services.size(), 0.0);
  double throughput = 0;
  for (int n = 1; n <= clients; ++n) {
    double cycle = think;
    std::vector<double> stay(services.size());
    for (std::size_t i = 0; i < services.size(); ++i) {
      stay[i] = services[i] * (1 + length[i]);
      cycle += stay[i];
    }
    throughput = n / cycle;
    for (std::size_t i = 0; i < services.size(); ++i) length[i] = throughput * stay[i];
  }
  return throughput;
}

class Closed {
 public:
  Closed(int clients, double think, std::vector<double> services, std::int64_t cycles)
      : services_(std::move(services)), think_(think), to_do_(cycles), random_(kSeed, "closed") {
    for (std::size_t i = 0; i < services_.size(); ++i)
      stations_.push_back(std::make_unique<Station>(engine_));
    for (int i = 0; i < clients; ++i) engine_.spawn(client());
    engine_.run();
  }
  double throughput() const {
    return static_cast<double>(cycles_) / in_units(last_.time_since_epoch());
  }
  const std::vector<std::unique_ptr<Station>>& stations() const { return stations_; }

 private:
  Process client() {
    while (cycles_ < to_do_) {
      const Duration thinking = units(random_.exponential(think_));
      co_await engine_.delay(thinking);
      for (std::size_t i = 0; i < services_.size(); ++i) {
        const Duration service = units(random_.exponential(services_[i]));
        co_await stations_[i]->visit(service);
      }
      if (cycles_ < to_do_) {
        ++cycles_;
        last_ = engine_.now();
      }
    }
  }

  std::vector<double> services_;
  double think_;
  std::int64_t to_do_;
  std::int64_t cycles_ = 0;
  SimTime last_;
  Rng random_;
  Engine engine_;
  std::vector<std::unique_ptr<Station>> stations_;
};

// Tolerance. With n cycles and a bottleneck of exponential service that is busy nearly always, the
// relative deviation of the throughput is that of a sum of n services, 1/sqrt(n), or less: idle
// times are negatively correlated with it. The start with all clients thinking costs at most one
// cycle time in n / X, here 10 / n. Three deviations and that.
TEST(ClosedTheory, ThroughputIsThatOfMeanValueAnalysis) {
  const auto cycles = static_cast<std::int64_t>(2e6 * part_of_samples());
  const auto n = static_cast<double>(cycles);
  const double tolerance = 3 / std::sqrt(n) + 10 / n;
  for (const int clients : {1, 3, 10}) {
    const Closed network(clients, 4.0, {1.0, 0.7, 0.4}, cycles);
    const double expected = mva_throughput(clients, 4.0, {1.0, 0.7, 0.4});
    // Below saturation the cycle time itself varies: of one client it is a sum of exponentials
    // whose variance is at most the square of its mean.
    EXPECT_NEAR(network.throughput() / expected, 1.0, tolerance)
        << clients << " clients, seed " << kSeed;
    for (const auto& station : network.stations()) station->expect_littles_law();
  }
}

// By hand: one client needs 4 + 1 + 0.7 + 0.4; with two, each finds at each station the queue
// length that one client leaves.
TEST(ClosedTheory, MeanValueAnalysisAgreesWithTheHand) {
  EXPECT_DOUBLE_EQ(mva_throughput(1, 4.0, {1.0, 0.7, 0.4}), 1 / 6.1);
  EXPECT_DOUBLE_EQ(mva_throughput(2, 0.0, {1.0, 1.0}), 2.0 / 3.0);
}

}  // namespace
}  // namespace tiersim::theory::networks_test
