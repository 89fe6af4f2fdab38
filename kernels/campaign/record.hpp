// JSON of one timing, one check and one composed sequence.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/campaign/json.hpp"
#include "kernels/campaign/physics.hpp"
#include "kernels/campaign/statistics.hpp"
#include "kernels/cases/case.hpp"
#include "kernels/cases/work.hpp"
#include "kernels/runtime/device_info.hpp"

namespace tiersim::kernels::bench {

// Replays of a graph with one node count.
struct Point {
  int nodes = 0;
  std::vector<double> ns;  // one a round
};

struct Timing {
  std::string name;  // of the case
  CaseInfo info;
  Work work;
  std::vector<LaunchUse> launches;
  std::vector<Occupancy> occupancies;  // one a launch
  bool warm = false;
  bool graph = true;
  int process = 0;
  int processes = 1;
  int rotation_sets = 1;
  std::int64_t set_bytes = 0;
  bool flushed = false;
  std::int64_t seed = 0;
  std::vector<Point> points;
  double host_ns = 0;  // of a round
  Agreement agreement;
  Clocks before, after;
  bool held_out = false;
  bool over_budget = false;
};

// Distinct bytes of a launch in both memories, at least 1.
std::int64_t touched_bytes(const Work& work);
Json to_json(const Work& work);
Work work_from_json(const Json& json);
Json to_json(const Clocks& clocks);
Json to_json(const Agreement& agreement);
// Median, interval and percentiles of values in nanoseconds.
Json interval_json(const std::vector<double>& ns);
// The slope and the intercept of each round.
std::vector<Line> round_lines(const std::vector<Point>& points);
Json to_json(const Timing& timing);
std::string entry_name(const std::string& name, const std::string& temperature, int process);

// A timing or composition entry as input of the physics check.
Timed timed_of(const Json& entry);

}  // namespace tiersim::kernels::bench
