#pragma once
// A measured queue: customers of a renewal process, one FIFO server, waits and lengths.
#include <cstdint>
#include <functional>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/core/engine.hpp"
#include "sim/core/resource.hpp"
#include "sim/core/stats.hpp"
#include "tests/support/test_length.hpp"

namespace tiersim::theory {

/// Samples relative to those that give 2 % at 95 %: a part in continuous integration, more at
/// night.
inline double part_of_samples() {
  return testing::is_nightly() ? 4.0 : 0.25;
}

/// Model seconds are microseconds of simulated time: fine enough that rounding to whole picoseconds
/// changes a mean by less than 1e-6 of it.
inline constexpr double kTicksPerUnit = 1e6;

inline Duration units(double time) {
  return Duration(static_cast<std::int64_t>(time * kTicksPerUnit + 0.5));
}
inline double in_units(Duration time) {
  return static_cast<double>(time.count()) / kTicksPerUnit;
}

/// A FIFO server that measures its queue. Customers call `co_await visit(service)`.
class Station {
 public:
  explicit Station(Engine& engine) : engine_(engine), server_(engine, 1), present_(engine.now()) {}

  Process visit(Duration service) {
    const SimTime arrival = engine_.now();
    present_.add(arrival, 1);
    co_await server_.acquire();
    wait_.add(in_units(engine_.now() - arrival));
    co_await engine_.delay(service);
    server_.release();
    present_.add(engine_.now(), -1);
    stay_.add(in_units(engine_.now() - arrival));
  }

  const Tally& wait() const { return wait_; }
  const Tally& stay() const { return stay_; }
  double mean_present() const { return present_.mean(engine_.now()); }

  /// Little's law is an identity over a run that begins and ends empty: the integral of the number
  /// present is the sum of the stays, so L * time == W * customers up to rounding of doubles.
  void expect_littles_law() const {
    EXPECT_EQ(present_.value(), 0);
    const double customer_time = stay_.mean() * static_cast<double>(stay_.count());
    const double area = mean_present() * in_units(engine_.now().time_since_epoch());
    EXPECT_NEAR(area / customer_time, 1.0, 1e-9);
  }

 private:
  Engine& engine_;
  Resource server_;
  TimeWeighted present_;
  Tally wait_;
  Tally stay_;
};

/// Poisson arrivals of rate `load` at one station with the given service (mean 1), until
/// `customers` have departed. Returns the mean wait before service.
class SingleQueue {
 public:
  using Service = double (*)(Rng&);

  SingleQueue(double load, Service service, std::int64_t customers, std::uint64_t seed)
      : arrivals_(seed, "arrivals"), services_(seed, "services"), station_(engine_) {
    ::testing::Test::RecordProperty("seed", std::to_string(seed));
    engine_.spawn(arrive(1.0 / load, service, customers));
    engine_.run();
  }
  const Station& station() const { return station_; }

 private:
  Process customer(Duration service) { co_await station_.visit(service); }
  Process arrive(double mean_gap, Service service, std::int64_t customers) {
    for (std::int64_t i = 0; i < customers; ++i) {
      const Duration gap = units(arrivals_.exponential(mean_gap));
      co_await engine_.delay(gap);
      engine_.spawn(customer(units(service(services_))));
    }
  }

  Rng arrivals_;
  Rng services_;
  Engine engine_;
  Station station_;
};

inline double exponential_service(Rng& rng) {
  return rng.exponential(1.0);
}
inline double constant_service(Rng&) {
  return 1.0;
}
/// Uniform on (0, 2): second moment 4/3.
inline double uniform_service(Rng& rng) {
  return 2.0 * rng.uniform();
}
/// Mean 1/2 with probability 2/3, else mean 2: overall mean 1, second moment 2 (2/3 / 4 + 4/3) = 3.
inline double hyperexponential_service(Rng& rng) {
  return rng.exponential(rng.below(3) < 2 ? 0.5 : 2.0);
}

}  // namespace tiersim::theory
