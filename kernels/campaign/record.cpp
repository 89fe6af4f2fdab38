#include "kernels/campaign/record.hpp"

#include <algorithm>
#include <cmath>

namespace tiersim::kernels::bench {
namespace {

Json launch_json(const LaunchUse& launch, const Occupancy& occupancy) {
  const double at_once = static_cast<double>(occupancy.blocks_per_multiprocessor) *
                         static_cast<double>(occupancy.multiprocessors);
  const double waves = at_once > 0 ? static_cast<double>(launch.blocks) / at_once : 0;
  const double last = waves - std::floor(waves);
  return Json::Object{{"kernel", launch.kernel},
                      {"blocks", launch.blocks},
                      {"threads", launch.threads},
                      {"shared_bytes", launch.shared_bytes},
                      {"bytes_in_flight_per_block", launch.bytes_in_flight_per_block},
                      {"known", occupancy.known},
                      {"registers", occupancy.registers},
                      {"local_bytes", occupancy.local_bytes},
                      {"static_shared_bytes", occupancy.static_shared_bytes},
                      {"blocks_per_multiprocessor", occupancy.blocks_per_multiprocessor},
                      {"waves", waves},
                      {"tail", waves > 0 && last == 0 ? 1.0 : last}};
}

}  // namespace

std::int64_t touched_bytes(const Work& work) {
  return std::max<std::int64_t>(
      1, work.read_bytes + work.written_bytes + work.link_read_bytes + work.link_written_bytes);
}

Json to_json(const Work& work) {
  return Json::Object{
      {"read_bytes", work.read_bytes},           {"written_bytes", work.written_bytes},
      {"link_read_bytes", work.link_read_bytes}, {"link_written_bytes", work.link_written_bytes},
      {"requested_bytes", work.requested_bytes}, {"flops", work.flops},
      {"issued_flops", work.issued_flops}};
}

Work work_from_json(const Json& json) {
  Work work;
  work.read_bytes = json.at("read_bytes").integer();
  work.written_bytes = json.at("written_bytes").integer();
  work.link_read_bytes = json.at("link_read_bytes").integer();
  work.link_written_bytes = json.at("link_written_bytes").integer();
  work.requested_bytes = json.at("requested_bytes").integer();
  work.flops = json.at("flops").integer();
  work.issued_flops = json.at("issued_flops").integer();
  return work;
}

Json to_json(const Clocks& clocks) {
  return Json::Object{{"known", clocks.known},
                      {"sm_mhz", clocks.sm_mhz},
                      {"memory_mhz", clocks.memory_mhz},
                      {"throttle_reasons", clocks.throttle_reasons},
                      {"temperature_c", clocks.temperature_c},
                      {"power_w", clocks.power_w}};
}

Json to_json(const Agreement& agreement) {
  return Json::Object{{"error", agreement.error},
                      {"tolerance", agreement.tolerance},
                      {"compared", agreement.compared}};
}

Json interval_json(const std::vector<double>& ns) {
  const MedianInterval interval = median_interval(ns);
  const Spread s = spread(ns);
  Json percentiles =
      Json::Object{{"min", s.min}, {"p5", s.p5},   {"p25", s.p25}, {"p50", s.p50}, {"p75", s.p75},
                   {"p90", s.p90}, {"p95", s.p95}, {"p99", s.p99}, {"max", s.max}};
  return Json::Object{{"median_ns", interval.median},
                      {"low_ns", interval.low},
                      {"high_ns", interval.high},
                      {"covers", interval.covers},
                      {"percentiles_ns", std::move(percentiles)}};
}

std::vector<Line> round_lines(const std::vector<Point>& points) {
  std::vector<Line> lines;
  for (std::size_t round = 0; round < points.front().ns.size(); ++round) {
    std::vector<double> nodes;
    std::vector<double> ns;
    for (const Point& point : points) {
      nodes.push_back(point.nodes);
      ns.push_back(point.ns[round]);
    }
    lines.push_back(fit_line(nodes, ns));
  }
  return lines;
}

std::string entry_name(const std::string& name, const std::string& temperature, int process) {
  return name + "/" + temperature + "/process:" + std::to_string(process);
}

Json to_json(const Timing& timing) {
  std::vector<double> slopes;
  std::vector<double> intercepts;
  for (const Line& line : round_lines(timing.points)) {
    slopes.push_back(line.slope);
    intercepts.push_back(line.intercept);
  }
  Json node = interval_json(slopes);
  Json points{Json::Array{}};
  for (const Point& point : timing.points) {
    const Spread s = spread(point.ns);
    points.push_back(Json::Object{
        {"nodes", point.nodes}, {"median_ns", s.p50}, {"min_ns", s.min}, {"max_ns", s.max}});
  }
  Json launches{Json::Array{}};
  for (std::size_t i = 0; i < timing.launches.size(); ++i) {
    launches.push_back(launch_json(timing.launches[i], timing.occupancies.at(i)));
  }
  Json shape{Json::Object{}};
  for (const auto& [name, size] : timing.info.shape) shape.set(name, size);
  const std::string temperature = timing.warm ? "warm" : "cold";
  return Json::Object{{"name", entry_name(timing.name, temperature, timing.process)},
                      {"run_name", timing.name + "/" + temperature},
                      {"run_type", "iteration"},
                      {"repetitions", timing.processes},
                      {"repetition_index", timing.process},
                      {"threads", 1},
                      {"iterations", static_cast<std::int64_t>(slopes.size())},
                      {"real_time", node.at("median_ns")},
                      {"cpu_time", timing.host_ns},
                      {"time_unit", "ns"},
                      {"case", timing.name},
                      {"family", timing.info.family},
                      {"kernel", timing.info.kernel},
                      {"variant", timing.info.variant},
                      {"dtype", timing.info.dtype},
                      {"shape", std::move(shape)},
                      {"baseline", timing.info.baseline},
                      {"temperature", temperature},
                      {"graph", timing.graph},
                      {"rotation_sets", timing.rotation_sets},
                      {"rotation_bytes", timing.rotation_sets * timing.set_bytes},
                      {"flushed", timing.flushed},
                      {"seed", timing.seed},
                      {"work", to_json(timing.work)},
                      {"launches", std::move(launches)},
                      {"points", std::move(points)},
                      {"dependent_node", std::move(node)},
                      {"launch", interval_json(intercepts)},
                      {"agreement", to_json(timing.agreement)},
                      {"clocks_before", to_json(timing.before)},
                      {"clocks_after", to_json(timing.after)},
                      {"held_out", timing.held_out},
                      {"over_budget", timing.over_budget}};
}

Timed timed_of(const Json& entry) {
  const Json* temperature = entry.find("temperature");
  const bool warm = temperature != nullptr && temperature->text() == "warm";
  return {entry.at("name").text(), entry.at("dtype").text(), work_from_json(entry.at("work")), warm,
          entry.at("real_time").number() * 1e-9};
}

}  // namespace tiersim::kernels::bench
