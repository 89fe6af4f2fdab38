#include "sim/serving/served_priorities.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/serving/request_latency.hpp"

namespace tiersim {

std::vector<ServedPriority> priorities_of(
    std::span<const ServedRequest> requests, const MeasureConfig& measure,
    const std::function<double(std::span<const double>, std::int64_t)>& quantile) {
  std::map<std::int64_t, std::vector<const ServedRequest*>> by_priority;
  for (const ServedRequest& request : requests) by_priority[request.priority].push_back(&request);
  std::vector<ServedPriority> out;
  if (by_priority.size() < 2) return out;
  for (const auto& [priority, of_it] : by_priority) {
    const auto latency = [&, &all = of_it](const auto& latency_of) -> std::optional<ServedLatency> {
      std::vector<double> values;
      for (const ServedRequest* const request : all)
        if (const std::optional<double> value = latency_of(*request)) values.push_back(*value);
      if (values.empty()) return std::nullopt;
      ServedLatency said;
      said.mean =
          std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
      std::ranges::sort(values);
      said.p50 = quantile(values, 50);
      said.p90 = quantile(values, 90);
      said.p95 = quantile(values, 95);
      said.p99 = quantile(values, 99);
      return said;
    };
    out.push_back({.priority = priority,
                   .requests = static_cast<std::int64_t>(of_it.size()),
                   .queue_time_s = *latency(queue_time_of),
                   .ttft_s = *latency(ttft_of),
                   .tpot_s = latency(tpot_of),
                   .e2e_latency_s = *latency(e2e_latency_of)});
    if (!measure.slo_ttft && !measure.slo_tpot) continue;
    const auto kept = std::ranges::count_if(
        of_it, [&](const ServedRequest* request) { return keeps_promises(*request, measure); });
    out.back().slo_attainment = static_cast<double>(kept) / static_cast<double>(of_it.size());
  }
  return out;
}

}  // namespace tiersim
