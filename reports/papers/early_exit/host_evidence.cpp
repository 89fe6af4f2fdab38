#include "reports/papers/early_exit/host_evidence.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace tiersim {

double in_flight(const ExitCell& cell) {
  return cell.tokens_per_s * cell.latency_s;
}

HostFit host_through(const ExitCell& a, double gpu_a_s, const ExitCell& b, double gpu_b_s) {
  const double run = in_flight(b) - in_flight(a);
  TS_EXPECTS(run != 0);
  const double first = a.latency_s - gpu_a_s;
  const double slope = (b.latency_s - gpu_b_s - first) / run;
  return {.intercept_s = first - slope * in_flight(a), .slope_s = slope};
}

double host_needed_s(const ExitCell& cell, double gpu_s) {
  return cell.latency_s - gpu_s;
}

double bound_without_layers(const ExitCell& full, double layers_s) {
  TS_EXPECTS(layers_s < full.latency_s, layers_s, full.latency_s);
  return in_flight(full) / (full.latency_s - layers_s);
}

std::optional<double> explained_share(const ExitCell& cell, const ExitCell& full, double layers_s) {
  const double gain = cell.tokens_per_s / full.tokens_per_s - 1;
  if (gain <= 0) return std::nullopt;
  return std::min(1.0, (bound_without_layers(full, layers_s) / full.tokens_per_s - 1) / gain);
}

std::optional<double> scaling_share(const ExitCell& cell, const ExitCell& full) {
  if (!cell.exit_rate || *cell.exit_rate == 0) return std::nullopt;
  return (1 - full.tokens_per_s / cell.tokens_per_s) / *cell.exit_rate;
}

}  // namespace tiersim
