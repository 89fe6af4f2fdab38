#include "sim/step/resampled.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/step/costs.hpp"

namespace tiersim {
namespace {

// True where the number's interval affects the record's results.
bool matters(const NumberRecord& number, const RunRecord& record) {
  if (!number.ci95) return false;
  if (number.in_times) return true;
  // How power follows the clock is read under a power limit alone, and then for times.
  const bool costs = record.metrics.contains("energy_j_per_token");
  return costs && is_cost_number(number.path) && !number.path.ends_with(".power_exponent");
}

Interval<double> around(double value, const std::vector<double>& drawn) {
  const Interval<double> middle = central_95(drawn);
  return {std::min(middle.low, value), std::max(middle.high, value)};
}

}  // namespace

std::unordered_set<std::string> uncertain_paths(const RunRecord& record) {
  std::unordered_set<std::string> used;
  for (const NumberRecord& number : record.numbers)
    if (matters(number, record)) used.insert(number.path);
  return used;
}

std::unordered_set<std::string> uncertain_prices(const RunRecord& record) {
  std::unordered_set<std::string> used;
  for (const NumberRecord& number : record.numbers)
    if (!number.in_times && matters(number, record)) used.insert(number.path);
  return used;
}

void DrawnResults::add(const std::map<std::string, Metric>& metrics) {
  for (const auto& [name, metric] : metrics) metrics_[name].push_back(metric.value);
}

void DrawnResults::add(const RunRecord& drawn) {
  add(drawn.metrics);
  for (const KernelTimeRecord& kernel : drawn.kernel_times)
    kernels_[kernel.family].push_back(kernel.seconds);
}

void DrawnResults::give_intervals(RunRecord& record) const {
  for (const auto& [name, values] : metrics_) {
    const auto found = record.metrics.find(name);
    if (found == record.metrics.end()) continue;
    Metric& metric = found->second;
    Interval<double> ci95 = around(metric.value, values);
    if (metric.ci95)
      ci95 = {std::min(ci95.low, metric.ci95->low), std::max(ci95.high, metric.ci95->high)};
    metric.ci95 = ci95;
  }
  for (KernelTimeRecord& kernel : record.kernel_times) {
    const auto drawn = kernels_.find(kernel.family);
    if (drawn == kernels_.end()) continue;
    const Interval<double> ci95 = around(kernel.seconds, drawn->second);
    if (ci95.low < ci95.high) kernel.ci95 = ci95;
  }
}

std::string broken_draw(std::size_t draw, std::size_t draws, const std::string& problem) {
  return fmt::format("draw {} of {} from the 95 % intervals cannot run: {}", draw, draws, problem);
}

}  // namespace tiersim
