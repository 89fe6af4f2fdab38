#include "sim/validate/run_difference.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "sim/base/check.hpp"
#include "sim/serving/explain.hpp"
#include "sim/serving/serve.hpp"

namespace tiersim {
namespace {

double metric_of(const RunRecord& record, const char* name) {
  const auto found = record.metrics.find(name);
  return found == record.metrics.end() ? 0 : found->second.value;
}

MetricDifference with_factors(MetricDifference out, const std::map<std::string, double>& seconds) {
  for (const auto& [name, time] : seconds)
    if (time > 0)
      out.parts.push_back(
          {.name = name, .seconds = time, .factor = 1 + (out.measured - out.simulated) / time});
  std::ranges::stable_sort(out.parts, std::greater(), &DifferencePart::seconds);
  return out;
}

// A token takes the iteration that makes it: the kernels of those that decode only, and the whole
// of those that read prompts, too, by their numbers of tokens.
std::map<std::string, double> parts_of_token(const ServingConfig& config,
                                             const IterationAverages& averages) {
  std::map<std::string, double> out;
  double tokens = 0;
  const std::vector<ExplainedIteration> iterations = explain(config, averages);
  for (const ExplainedIteration& each : iterations)
    tokens += each.decodes * static_cast<double>(each.iterations);
  if (tokens == 0) return out;
  for (const ExplainedIteration& each : iterations) {
    const double share = each.decodes * static_cast<double>(each.iterations) / tokens;
    if (each.reads_prompts) {
      out["iterations that read prompts, too"] += share * (each.before + each.copies + each.gpu);
      continue;
    }
    for (const IterationPart& part : each.parts) out[part.name] += share * part.seconds;
    out["the GPU waits for the CPU"] += share * each.waits;
    out["the CPU, before the GPU"] += share * each.before;
    out["copies and experts that move, before the GPU"] += share * each.copies;
  }
  return out;
}

std::map<std::string, double> parts_of_first_token(const ServingConfig& config,
                                                   const RunRecord& record) {
  const ServingCounts& counts = record.serving->counts;
  const double frontend = to_seconds(config.frontend_time(std::llround(
      static_cast<double>(counts.input_tokens) / static_cast<double>(counts.requests))));
  const double queue = metric_of(record, "queue_time_s.mean");
  return {{"the frontend, without a queue", frontend},
          {"waiting for the first iteration", std::max(0.0, queue - frontend)},
          {"iterations that read the prompt", metric_of(record, "ttft_s.mean") - queue}};
}

}  // namespace

Expected<std::vector<MetricDifference>> difference_of(const ServingConfig& config,
                                                      const PublishedValues& measured) {
  TS_EXPECTS(!config.early_exit && !config.scenario.model.encoder);
  IterationAverages averages(config);
  const auto record = serve(config, &averages);
  if (!record) return Unexpected(record.error());
  std::vector<MetricDifference> out;
  const auto add = [&](PublishedMetric metric, const std::map<std::string, double>& parts) {
    const auto value = measured.value(metric);
    const auto simulated = record->metrics.find(std::string(record_metric(metric)));
    if (!value || simulated == record->metrics.end()) return;
    out.push_back(with_factors(
        {.metric = metric, .measured = *value, .simulated = simulated->second.value}, parts));
  };
  add(PublishedMetric::tpot, parts_of_token(config, averages));
  add(PublishedMetric::ttft, parts_of_first_token(config, *record));
  return out;
}

}  // namespace tiersim
