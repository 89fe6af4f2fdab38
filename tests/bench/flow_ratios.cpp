// flow_ratios: the cost of a completion relative to one event of a bare std::priority_queue, beside
// the goals. Rounds of all cases are interleaved and CPU time is measured, because on a loaded
// machine the same binary may take three times as long a minute later. Prints the median of the
// rounds.
//
//   flow_ratios [rounds, default 15]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/flow_loops.hpp"

namespace tiersim::flow_bench {
namespace {

double cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

struct Case {
  std::string name;
  std::int64_t operations;  ///< per round
  std::string goal;
  std::function<std::int64_t(std::int64_t)> run;
  std::vector<double> cost = {};  ///< ns, one per round
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

int ratios(int rounds) {
  BareHold bare;
  std::vector<Case> cases;
  cases.push_back({"bare hold, 1e3 pending", 200'000, "1", [&](auto n) { return bare.run(n); }});
  const char* const kGoals[] = {"0.6", "1", "1.5"};
  std::vector<std::unique_ptr<ClosedLoop>> loops;
  std::vector<std::unique_ptr<FullFillingLoop>> full;
  for (const std::uint64_t flows : {10U, 100U, 1000U}) {
    ClosedLoop& loop = *loops.emplace_back(std::make_unique<ClosedLoop>(flows, 0));
    cases.push_back({"one link, " + std::to_string(flows) + " flows", 200'000,
                     kGoals[loops.size() - 1], [&](auto n) { return loop.run(n); }});
  }
  struct Star {
    std::uint64_t flows, hosts;
  };
  for (const Star star : {Star{10, 16}, Star{100, 16}, Star{100, 64}, Star{1000, 16},
                          Star{1000, 64}, Star{1000, 256}, Star{1000, 1024}}) {
    const std::string name =
        ", " + std::to_string(star.flows) + " flows, " + std::to_string(star.hosts) + " hosts";
    const std::int64_t operations = 200'000 / static_cast<std::int64_t>(star.flows);
    ClosedLoop& loop = *loops.emplace_back(std::make_unique<ClosedLoop>(star.flows, star.hosts));
    cases.push_back(
        {"star" + name, 10 * operations, "1/3 of full", [&](auto n) { return loop.run(n); }});
    FullFillingLoop& slow =
        *full.emplace_back(std::make_unique<FullFillingLoop>(star.flows, star.hosts));
    cases.push_back({"full" + name, operations / 4, "", [&](auto n) { return slow.run(n); }});
  }
  for (Case& c : cases) c.run(c.operations);
  for (int round = 0; round < rounds; ++round)
    for (Case& c : cases) {
      const double start = cpu_ns();
      const std::int64_t done = c.run(c.operations);
      c.cost.push_back((cpu_ns() - start) / static_cast<double>(done));
    }
  const double unit = median(cases.front().cost);
  std::printf("%-36s %10s %10s   %s\n", "case", "ns", "x bare", "goal");
  for (const Case& c : cases)
    std::printf("%-36s %10.1f %10.2f   %s\n", c.name.c_str(), median(c.cost), median(c.cost) / unit,
                c.goal.c_str());
  return 0;
}

}  // namespace
}  // namespace tiersim::flow_bench

int main(int argc, char** argv) {
  return tiersim::flow_bench::ratios(argc > 1 ? std::atoi(argv[1]) : 15);
}
