#include "sim/step/resampled.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/config/resample.hpp"
#include "sim/step/costs.hpp"

namespace tiersim {
namespace {

// True where the number's interval affects the record's results.
bool matters(const NumberRecord& number, const RunRecord& record) {
  if (!number.ci95) return false;
  const bool costs = record.metrics.contains("energy_j_per_token");
  return number.in_times || (costs && only_in_costs(number.path));
}

// A copy to change, made through the canonical text.
ScenarioConfig copy_of(const ScenarioConfig& config) {
  Diagnostics diagnostics;
  const Document document = load_text(canonical_json(config), "a copy", {}, diagnostics);
  auto copy = read<ScenarioConfig>(document, "scenario", diagnostics);
  TS_ENSURES(diagnostics.ok(), diagnostics.text());
  return copy;
}

/// The results of every draw, by name.
class Results {
 public:
  void add(const RunRecord& drawn) {
    for (const auto& [name, metric] : drawn.metrics) metrics_[name].push_back(metric.value);
    for (const KernelTimeRecord& kernel : drawn.kernel_times)
      kernels_[kernel.family].push_back(kernel.seconds);
  }
  void give_intervals(RunRecord& record) const {
    for (const auto& [name, values] : metrics_) {
      Metric& metric = record.metrics.at(name);
      metric.ci95 = around(metric.value, values);
    }
    for (KernelTimeRecord& kernel : record.kernel_times) {
      const Interval<double> ci95 = around(kernel.seconds, kernels_.at(kernel.family));
      if (ci95.low < ci95.high) kernel.ci95 = ci95;
    }
  }

 private:
  static Interval<double> around(double value, const std::vector<double>& drawn) {
    const Interval<double> middle = central_95(drawn);
    return {std::min(middle.low, value), std::max(middle.high, value)};
  }

  std::map<std::string, std::vector<double>> metrics_;
  std::map<std::string, std::vector<double>> kernels_;
};

}  // namespace

Expected<bool> add_intervals(const ScenarioConfig& config, const RunDraw& run, RunRecord& record) {
  std::unordered_set<std::string> used;
  for (const NumberRecord& number : record.numbers)
    if (matters(number, record)) used.insert(number.path);
  if (used.empty()) return false;
  const UncertaintyConfig settings = config.uncertainty.value_or(UncertaintyConfig{});
  ScenarioConfig drawn = copy_of(config);
  Resampler resampler(drawn, settings.draws, settings.seed,
                      [&](const std::string& path) { return used.contains(path); });
  Results results;
  for (std::size_t i = 0; i < resampler.draws(); ++i) {
    std::string problem = resampler.draw(i);
    if (problem.empty()) {
      const auto result = run(drawn);
      if (result)
        results.add(*result);
      else
        problem = result.error();
    }
    if (!problem.empty())
      return Unexpected(fmt::format("draw {} of {} from the 95 % intervals cannot run: {}", i + 1,
                                    resampler.draws(), problem));
  }
  results.give_intervals(record);
  record.draws = DrawsRecord{settings.draws, settings.seed, static_cast<std::int64_t>(used.size())};
  return true;
}

}  // namespace tiersim
