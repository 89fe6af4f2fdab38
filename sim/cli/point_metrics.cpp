#include "sim/cli/point_metrics.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "reports/points/point_values.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/record/metric_names.hpp"
#include "sim/runner/files.hpp"

namespace tiersim::cli {
namespace {

[[noreturn]] void usage(const std::string& option, const std::string& problem) {
  throw Failure(ExitCode::usage, printable(fmt::format("tiersim: error: {}: {}", option, problem)));
}

}  // namespace

std::string full_metric(const std::string& name, const std::string& option) {
  auto metric = resolve_metric(name);
  if (!metric) usage(option, metric.error());
  return *std::move(metric);
}

std::string metric_of_points(const PointTable& table, const std::string& name,
                             const std::string& option) {
  std::string metric = full_metric(name, option);
  const std::vector<std::string> known = metric_names(table);
  if (known.empty()) usage(option, "no point has a result");
  if (std::ranges::find(known, metric) != known.end()) return metric;
  // "tpot" is tpot_s of a step, and several statistics of a server.
  const std::string stem = metric.substr(0, metric.find('.'));
  std::vector<std::string> near;
  std::ranges::copy_if(known, std::back_inserter(near), [&](const std::string& one) {
    return one.substr(0, one.find('.')) == stem;
  });
  usage(option, fmt::format("no point has '{}' (they have: {})", metric,
                            join(near.empty() ? known : near)));
}

ReportObjective parse_objective(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string sense = text.substr(0, colon);
  if (colon == std::string::npos || (sense != "maximize" && sense != "minimize"))
    usage("--objective",
          fmt::format("'{}' does not say what and how (maximize:throughput, minimize:tpot)", text));
  return {.metric = full_metric(text.substr(colon + 1), "--objective"),
          .maximize = sense == "maximize"};
}

std::size_t column_of(const PointTable& table, const std::string& name, const std::string& option) {
  std::vector<std::string> names;
  for (const PointColumn& column : table.columns) names.push_back(column.name);
  const auto it = std::ranges::find(names, name);
  if (it != names.end()) return static_cast<std::size_t>(it - names.begin());
  const auto near = nearest(name, names);
  usage(option, fmt::format("the points have no column '{}'{} (they have: {})", name,
                            near.empty() ? "" : fmt::format("; did you mean '{}'?", near),
                            names.empty() ? "none" : join(names)));
}

}  // namespace tiersim::cli
