#include "reports/compare/run_difference_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/display.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::vector<Table> run_difference_tables(const std::vector<MetricDifference>& differences) {
  std::vector<Table> out;
  for (const MetricDifference& each : differences) {
    const std::string_view name = name_of(each.metric);
    Table table{.id = std::string(name),
                .title = fmt::format("{}: {} simulated, {} measured ({:+.1f} %)", name,
                                     display(each.simulated, "s"), display(each.measured, "s"),
                                     100 * (each.simulated / each.measured - 1)),
                .columns = {{"part", Align::left},
                            {.title = "time", .key = "seconds", .unit = "s"},
                            {.title = "share", .key = "share"},
                            {.title = "explains it alone at", .key = "factor"},
                            {.title = "could it", .align = Align::left, .key = "could_explain"}}};
    for (const DifferencePart& part : each.parts) {
      const double share = part.seconds / each.simulated;
      table.add({part.name, Cell::quantity(part.seconds, "s"),
                 Cell(share, fmt::format("{:.1f} %", 100 * share)),
                 Cell(part.factor, part.factor < 0 ? "not at all"
                                                   : fmt::format("{:.3g} times that", part.factor)),
                 Cell(part.could_explain(), part.could_explain() ? "yes" : "no")});
    }
    table.notes.emplace_back(
        "could it: all else as simulated, between a third and three times the part's time");
    out.push_back(std::move(table));
  }
  return out;
}

std::string run_difference_json(const std::vector<MetricDifference>& differences) {
  Json metrics = Json::array();
  for (const MetricDifference& each : differences) {
    Json parts = Json::array();
    for (const DifferencePart& part : each.parts)
      parts.push_back({{"name", part.name},
                       {"seconds", part.seconds},
                       {"factor", part.factor},
                       {"could_explain", part.could_explain()}});
    metrics.push_back({{"metric", name_of(each.metric)},
                       {"measured", each.measured},
                       {"simulated", each.simulated},
                       {"parts", std::move(parts)}});
  }
  return Json{{"metrics", std::move(metrics)}}.dump() + '\n';
}

}  // namespace tiersim
