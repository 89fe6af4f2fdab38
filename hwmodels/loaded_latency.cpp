#include "hwmodels/loaded_latency.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "hwmodels/limits.hpp"

namespace tiersim {
namespace {

constexpr double kMostLoad = 4;     // of a port, both directions together
constexpr double kSteps = 1048576;  // 2^20

double end_of(const LatencyLine& line) {
  return line.loads.back();
}

// Added latency in ps.
double value_of(const LatencyLine& line, double load) {
  if (load <= 0) return 0;
  const auto above = std::ranges::lower_bound(line.loads, load);
  if (above == line.loads.end()) return line.added_ps.back();
  const auto i = static_cast<std::size_t>(above - line.loads.begin());
  const double from = i == 0 ? 0 : line.loads[i - 1];
  const double low = i == 0 ? 0 : line.added_ps[i - 1];
  return low + (line.added_ps[i] - low) * ((load - from) / (line.loads[i] - from));
}

// Rounding of the weights is far below a step, so it cannot make a curve fall.
double in_steps(double load) {
  return std::floor(load * kSteps) / kSteps;
}

// The neighbours of a place in a rising list, and the weight of the upper one.
struct Between {
  std::size_t low, high;
  double part;
};

template <class List, class Key>
Between between(const List& list, double place, Key key) {
  const auto above = std::ranges::lower_bound(list, place, {}, key);
  if (above == list.end()) return {list.size() - 1, list.size() - 1, 0};
  const auto i = static_cast<std::size_t>(above - list.begin());
  if (i == 0 || key(*above) == place) return {i, i, 0};
  const double low = key(list[i - 1]);
  return {i - 1, i, (place - low) / (key(*above) - low)};
}

double runs_of_byte(Bytes run) {
  return run > Bytes{} ? 1.0 / static_cast<double>(run.in_base()) : 0.0;
}

}  // namespace

LoadedLatency::LoadedLatency(std::vector<LatencyLine> lines, Bandwidth whole) : whole_(whole) {
  TS_EXPECTS(!lines.empty() && whole_ > Bandwidth{}, lines.size(), whole_);
  std::ranges::sort(lines, [](const LatencyLine& a, const LatencyLine& b) {
    return a.run != b.run ? a.run < b.run : a.read_share < b.read_share;
  });
  for (LatencyLine& line : lines) {
    TS_EXPECTS(!line.loads.empty() && line.loads.size() == line.added_ps.size());
    const double runs = runs_of_byte(line.run);
    if (groups_.empty() || groups_.back().runs_of_byte != runs) groups_.push_back({runs, {}});
    groups_.back().lines.push_back(std::move(line));
  }
}

Duration LoadedLatency::at(Bandwidth rate, double read_share, Bytes run) const {
  const Bandwidth most = Bandwidth::from_base(whole_.in_base() * static_cast<int>(kMostLoad));
  const Int128 steps = (Int128{std::min(rate, most).in_base()} << 20U) / whole_.in_base();
  const double load = static_cast<double>(steps) / kSteps;
  // Groups stand in falling order of 1 / run.
  const Between runs =
      between(groups_, -runs_of_byte(run), [](const Group& group) { return -group.runs_of_byte; });
  struct Neighbour {
    const LatencyLine* line;
    double weight;
  };
  std::array<Neighbour, 4> neighbours{};
  std::size_t count = 0;
  for (const auto& [group, weight] :
       {std::pair{runs.low, 1 - runs.part}, std::pair{runs.high, runs.part}}) {
    if (weight == 0) continue;
    const std::vector<LatencyLine>& lines = groups_[group].lines;
    const Between shares = between(lines, read_share, [](const auto& l) { return l.read_share; });
    neighbours[count++] = {&lines[shares.low], weight * (1 - shares.part)};
    if (shares.part > 0) neighbours[count++] = {&lines[shares.high], weight * shares.part};
  }
  if (count == 1) return Duration(std::llround(value_of(*neighbours[0].line, load)));
  double end = 0;
  for (std::size_t i = 0; i < count; ++i) end += neighbours[i].weight * end_of(*neighbours[i].line);
  const double share = in_steps(load / end);
  double value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const LatencyLine& line = *neighbours[i].line;
    value += neighbours[i].weight * value_of(line, share * end_of(line));
  }
  return Duration(std::llround(value));
}

std::vector<LatencyLine> LatencyFamily::lines() const {
  std::vector<LatencyLine> out;
  for (const LatencyCurve& curve : by_read_share) {
    LatencyLine& line = out.emplace_back();
    line.read_share = curve.read_share;
    for (const LatencyPoint& point : curve.points) {
      line.loads.push_back(point.load);
      line.added_ps.push_back(static_cast<double>(point.added.value.count()));
    }
  }
  return out;
}

void describe(Fields& f, LatencyPoint& c) {
  f.doc("One point of a loaded-latency curve.");
  f.required("load", c.load, "Payload rate, reads and writes, over that of the device.",
             in_range(1e-6, kMostLoad));
  f.required("added", c.added, "Latency beyond that without load.", latency_limits());
}

void describe(Fields& f, LatencyCurve& c) {
  f.doc("Latency that queueing adds at one read share.");
  f.required("read_share", c.read_share, "Of the payload.", in_range(0.0, 1.0));
  f.required("points", c.points, "In rising order of the load, joined by straight lines.");
  f.check(!c.points.empty(), "points", "is empty", "one point at least");
  for (std::size_t i = 1; i < c.points.size(); ++i) {
    f.check(c.points[i - 1].load < c.points[i].load, fmt::format("points.{}.load", i),
            "is not above that of the point before it", "in rising order");
    f.check(c.points[i - 1].added.value <= c.points[i].added.value,
            fmt::format("points.{}.added", i), "is below that of the point before it",
            "latency never falls with the load");
  }
}

void describe(Fields& f, LatencyFamily& c) {
  f.doc("Latency that queueing adds, by the share of reads.");
  f.required("by_read_share", c.by_read_share, "Curves in rising order of the read share.");
  f.check(!c.by_read_share.empty(), "by_read_share", "has no curve", "one at least");
  for (std::size_t i = 1; i < c.by_read_share.size(); ++i)
    f.check(c.by_read_share[i - 1].read_share < c.by_read_share[i].read_share,
            fmt::format("by_read_share.{}.read_share", i),
            "is not above that of the curve before it", "in rising order");
}

}  // namespace tiersim
