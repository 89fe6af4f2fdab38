// The engine against a bare std::priority_queue, in turns within one process and by CPU time, so
// that other load on the machine affects both alike. Prints the median ratio and the goal.
//
//   engine_ratios [rounds]      9 unless said otherwise
//   engine_ratios --brief       one short round, to see that it runs
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "tests/bench/engine_loops.hpp"

namespace tiersim::bench {
namespace {

struct Contest {
  std::string name;
  std::size_t pending;  ///< of the bare heap
  double goal;          ///< 0: none
  std::uint64_t units;  ///< of work in a round
  std::function<std::uint64_t(std::uint64_t)> run;
  std::vector<double> rates = {};   ///< units a second
  std::vector<double> ratios = {};  ///< to the bare heap in the same round
};

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
template <class Run>
double rate_of(Run&& run, std::uint64_t units) {
  const double start = cpu_seconds();
  const std::uint64_t done = run(units);
  return static_cast<double>(done) / (cpu_seconds() - start);
}
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// `scale` divides the pending and the finished work.
int compare(int rounds, std::uint64_t scale) {
  const std::array<std::size_t, 3> pending_of{1000 / scale, 100'000 / scale, 1'000'000 / scale};
  std::vector<BareHold> bare;
  for (const std::size_t pending : pending_of) bare.emplace_back(pending);
  std::array<std::vector<double>, 3> bare_rates;

  ProcessHold hold_small(pending_of[0]), hold_middle(pending_of[1]), hold_large(pending_of[2]);
  HandlerHold handlers_small(pending_of[0]), handlers_middle(pending_of[1]),
      handlers_large(pending_of[2]);
  CustomerQueue customers;
  ClosedNetwork closed;
  const auto runs = [](auto& loop) {
    return [&loop](std::uint64_t units) { return loop.run(units); };
  };
  std::vector<Contest> contests{
      {"process hold, 1e3", 0, 1.9, 2'000'000, runs(hold_small)},
      {"process hold, 1e5", 1, 1.7, 2'000'000, runs(hold_middle)},
      {"process hold, 1e6", 2, 1.6, 2'000'000, runs(hold_large)},
      {"M/M/1 customers, to 1e3", 0, 1.2, 1'000'000, runs(customers)},
      {"handler hold, 1e3", 0, 0, 2'000'000, runs(handlers_small)},
      {"handler hold, 1e5", 1, 0, 2'000'000, runs(handlers_middle)},
      {"handler hold, 1e6", 2, 0, 2'000'000, runs(handlers_large)},
      {"closed network, 1000 clients, to 1e3", 0, 0, 1'000'000, runs(closed)},
  };
  for (std::size_t i = 0; i < bare.size(); ++i) bare[i].run(3 * pending_of[i]);
  for (Contest& contest : contests) contest.run(3 * pending_of[contest.pending]);

  for (int round = 0; round < rounds; ++round) {
    for (Contest& contest : contests) {
      BareHold& opponent = bare[contest.pending];
      const double before =
          rate_of([&](std::uint64_t n) { return opponent.run(n); }, 1'000'000 / scale);
      const double rate = rate_of(contest.run, contest.units / scale);
      const double after =
          rate_of([&](std::uint64_t n) { return opponent.run(n); }, 1'000'000 / scale);
      const double harmonic = 2 / (1 / before + 1 / after);
      bare_rates[contest.pending].push_back(harmonic);
      contest.rates.push_back(rate);
      contest.ratios.push_back(rate / harmonic);
    }
  }
  std::printf("%-38s %9s %9s %9s %6s\n", "", "M/s", "heap M/s", "ratio", "goal");
  for (const Contest& contest : contests) {
    std::printf("%-38s %9.2f %9.2f %9.2f ", contest.name.c_str(), median(contest.rates) / 1e6,
                median(bare_rates[contest.pending]) / 1e6, median(contest.ratios));
    if (contest.goal > 0) std::printf("%6.1f", contest.goal);
    std::printf("\n");
  }
  return 0;
}

}  // namespace
}  // namespace tiersim::bench

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--brief") == 0) return tiersim::bench::compare(1, 100);
  return tiersim::bench::compare(argc > 1 ? std::max(1, std::atoi(argv[1])) : 9, 1);
}
