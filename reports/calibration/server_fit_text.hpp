#pragma once
// The fit of a server's own times (sim/validate/server_fit.hpp): as tables, as JSON, and as the
// part of a server's file that states them.
#include <string>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/validate/fitted_times.hpp"

namespace tiersim {

/// The measured values that a fit rests on, in its order.
struct FittedValue {
  std::string run;     ///< "group.run"
  std::string metric;  ///< "tpot"
};

/// The times with their intervals, and the errors before and after.
std::vector<Table> server_fit_tables(const ServerFit& fit, const std::vector<FittedValue>& values);

/// {times: [{name, start, value, low, high}], values: [{run, metric, before, after}]} in seconds
/// and shares; a time that the runs do not tell has null for low and high.
std::string server_fit_json(const ServerFit& fit, const std::vector<FittedValue>& values);

/// A YAML of `schema: tiersim.server/v1` with the times that were determined, at least one, for the
/// `base` of a server. `command` writes it again.
std::string server_fit_yaml(const ServerFit& fit, const std::string& command,
                            const std::string& source);

}  // namespace tiersim
