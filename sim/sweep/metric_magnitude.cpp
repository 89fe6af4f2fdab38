#include "sim/sweep/metric_magnitude.hpp"

#include "sim/base/check.hpp"
#include "sim/expression/dimension.hpp"
#include "sim/record/metrics.hpp"

namespace tiersim {

Magnitude metric_magnitude(const std::string& metric, double value) {
  const MetricDefinition* definition = find_metric(metric);
  TS_EXPECTS(definition != nullptr, metric);
  const auto unit = find_unit(definition->unit);
  return {value, unit ? unit->dimension.text() : ""};
}

}  // namespace tiersim
