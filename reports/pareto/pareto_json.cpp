#include <nlohmann/json.hpp>

#include "reports/pareto/pareto_report.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

Json value_of(const Metric& metric) {
  Json out{{"value", metric.value}, {"unit", metric.unit}, {"class", name(metric.number_class)}};
  if (metric.ci95) out["ci95"] = {metric.ci95->low, metric.ci95->high};
  return out;
}

Json point_of(const ParetoReport& report, std::size_t i) {
  const ReportPoint& point = report.table->points[i];
  Json labels = Json::object();
  for (std::size_t c = 0; c < report.table->columns.size(); ++c)
    if (!point.labels[c].empty()) labels[report.table->columns[c].name] = point.labels[c];
  Json values = Json::object();
  for (const ParetoObjective& objective : report.objectives)
    values[objective.name] = objective.values[i] ? value_of(*objective.values[i]) : Json();
  Json out{{"position", point.position}, {"labels", labels}, {"objectives", values}};
  for (const ParetoColumn& column : report.columns) out[column.title] = column.cells[i];
  out["run_id"] = point.run_id;
  out["rerun"] = point.rerun;
  return out;
}

Json positions(const ParetoReport& report, const std::vector<std::size_t>& points) {
  Json out = Json::array();
  for (const std::size_t i : points) out.push_back(report.table->points[i].position);
  return out;
}

}  // namespace

std::string to_json(const ParetoReport& report) {
  Json objectives = Json::array();
  for (const ParetoObjective& objective : report.objectives) {
    Json o{{"metric", objective.name},
           {"unit", objective.unit},
           {"direction", kSenseNames[static_cast<std::size_t>(objective.sense)]}};
    if (!objective.note.empty()) o["note"] = objective.note;
    objectives.push_back(std::move(o));
  }
  Json front = Json::array();
  for (const std::size_t i : report.front) front.push_back(point_of(report, i));
  const Json counts{{"compared", report.counts.compared},
                    {"front", report.front.size()},
                    {"unacceptable", report.counts.unacceptable},
                    {"without_value", report.counts.without.count()}};
  Json out{{"objectives", objectives},
           {"constraints", report.table->constraints},
           {"counts", counts},
           {"front", front},
           {"knee", report.knee ? Json(report.table->points[*report.knee].position) : Json()},
           {"hypervolume", report.hypervolume},
           {"notes", report.notes}};
  if (!report.table->whole) {
    out["dominated"] = positions(report, report.dominated);
    out["unacceptable"] = positions(report, report.unacceptable);
    out["without_value"] = positions(report, report.without);
  }
  return out.dump(2) + '\n';
}

}  // namespace tiersim
