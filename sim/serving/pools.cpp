#include "sim/serving/pools.hpp"

#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {

ScenarioConfig prefill_scenario(const ServingConfig& config) {
  TS_EXPECTS(config.prefill.has_value());
  ScenarioConfig out = config.scenario;
  out.system = config.prefill->system;
  out.parallel = config.prefill->parallel;
  out.ffn.reset();  // of the replicas that answer
  return out;
}

std::vector<ServerPool> pools_of(const ServingConfig& config) {
  if (!config.prefill) return {{.name = "", .config = config}};
  ServingConfig prefill = config;
  prefill.scenario = prefill_scenario(config);
  SchedulerConfig& scheduler = prefill.server.scheduler;
  const auto& [system, parallel, sequences, tokens] = *config.prefill;
  scheduler.max_sequences = sequences.value_or(scheduler.max_sequences);
  scheduler.max_batched_tokens = tokens.value_or(scheduler.max_batched_tokens);
  prefill.prefill.reset();
  prefill.server.disaggregation.reset();  // refused beside pools
  ServingConfig decode = config;
  decode.prefill.reset();
  decode.server.disaggregation.reset();
  decode.server.prefix_cache.reset();  // the pool that reads prompts has it
  return {{.name = "prefill", .config = std::move(prefill)},
          {.name = "", .config = std::move(decode)}};
}

}  // namespace tiersim
