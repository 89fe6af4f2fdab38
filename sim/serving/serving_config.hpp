#pragma once
// Requests over time on a server (`schema: tiersim.serving/v1`): a system, a model with a KV
// method, the requests, and the server that processes them.
#include <cstdint>
#include <optional>

#include "sim/step/scenario.hpp"
#include "workloads/early_exit/early_exit_config.hpp"
#include "workloads/serving/server_config.hpp"
#include "workloads/serving/workload_config.hpp"

namespace tiersim {

/// The requests that count, and the promised latencies.
struct MeasureConfig {
  double warm_up = 0.1;  ///< share of the requests, in order of arrival, that does not count
  std::optional<Duration> slo_ttft = {};  ///< a request with a longer time is not goodput
  std::optional<Duration> slo_tpot = {};
};
void describe(Fields& f, MeasureConfig& c);

/// Intervals of a served run by repeated runs, with the same requests in each; 20 draws resolve the
/// ends of an interval as the least and the largest result.
struct ServedDrawsConfig {
  std::int64_t draws = 20;
  std::int64_t seed = 1;
};
void describe(Fields& f, ServedDrawsConfig& c);

struct ServingConfig {
  ScenarioConfig scenario = {};  ///< name, system, model, types, method, placement; no batch
  WorkloadConfig workload = {};
  ServerConfig server = {};
  std::optional<EarlyExitConfig> early_exit = {};
  MeasureConfig measure = {};
  std::optional<ServedDrawsConfig> uncertainty = {};  ///< none: no intervals of numbers
  std::int64_t seed = 1;
};
void describe(Fields& f, ServingConfig& c);

}  // namespace tiersim
