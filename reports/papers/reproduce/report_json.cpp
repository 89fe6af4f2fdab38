// The report as JSON. Its names are an interface.
#include <nlohmann/json.hpp>

#include "reports/papers/reproduce/paper_report.hpp"
#include "sim/record/table_json.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

Json to_object(const TargetResult& r) {
  return {{"id", r.id},         {"reading", r.reading},
          {"paper", r.paper},   {"simulated", r.simulated},
          {"unit", r.unit},     {"tolerance", r.tolerance},
          {"status", r.status}, {"why", r.why}};
}

Json to_object(const ReproducedStep& step) {
  Json out{{"model", step.target.label}, {"method", step.target.method}};
  if (!step.problem.empty()) {
    out["problem"] = step.problem;
  } else {
    out["run_id"] = step.record.run_id;
    out["results"] = Json::parse(to_json(step.record))["results"];
  }
  return out;
}

// A row as an object with axes and columns by name, values in base units.
Json to_object(const StudyResult& result) {
  const Table table = table_of(result);
  Json names = Json::array();
  for (const Column& column : table.columns)
    if (column.readers == Readers::everyone)
      names.push_back({{"name", json_key(column)}, {"unit", column.unit}});
  return {{"id", result.study.id},       {"title", result.study.title},
          {"where", result.study.where}, {"class", result.number_class()},
          {"columns", std::move(names)}, {"rows", Json::parse(to_json(table))},
          {"notes", result.study.notes}};
}

Json to_object(const SolveAnswer& answer) {
  Json out{{"variant", answer.label}, {"outcome", answer.outcome}};
  if (!answer.problem.empty()) {
    out["problem"] = answer.problem;
    return out;
  }
  out["value"] = answer.value;
  out["metric"] = answer.metric;
  out["target"] = answer.target;
  if (answer.next) out["next"] = {{"value", answer.next->value}, {"metric", answer.next->metric}};
  out["unit"] = answer.unit;
  if (!answer.left_out.empty()) out["left_out"] = answer.left_out;
  out["monotone"] = answer.monotone;
  out["evaluations"] = answer.evaluations;
  out["bounded_by"] = answer.record ? Json(answer.record->bounded_by) : Json();
  out["run_id"] = answer.record ? Json(answer.record->run_id) : Json();
  return out;
}

Json to_object(const SolveResult& result) {
  Json answers = Json::array();
  for (const SolveAnswer& answer : result.answers) answers.push_back(to_object(answer));
  return {{"id", result.question.id},         {"title", result.question.title},
          {"vary", result.question.vary},     {"between", result.question.between},
          {"metric", result.question.metric}, {"answers", std::move(answers)},
          {"notes", result.question.notes}};
}

class TargetList {
 public:
  void add(const std::vector<TargetResult>& results) {
    for (const TargetResult& result : results) {
      list.push_back(to_object(result));
      if (!holds(result)) ++failed;
    }
  }

  Json list = Json::array();
  std::size_t failed = 0;
};

template <class List>
Json to_array(const List& list) {
  Json out = Json::array();
  for (const auto& element : list) out.push_back(to_object(element));
  return out;
}

}  // namespace

std::string to_json(const PaperReport& report) {
  TargetList targets;
  for (const ReproducedRow& row : report.rows) targets.add(row.cells);
  Json studies = Json::array();
  for (const ReproducedStudy& study : report.studies) {
    targets.add(study.checks);
    studies.push_back(to_object(study.result));
  }
  Json sections = Json::object();
  for (const ReportSection& section : report.sections) {
    targets.add(section.results);
    sections[section.id] = Json::parse(section.json);
  }
  const std::size_t count = targets.list.size();
  const Json out{{"paper", report.paper},
                 {"targets", std::move(targets.list)},
                 {"decode_steps", to_array(report.steps)},
                 {"studies", std::move(studies)},
                 {"solves", to_array(report.solves)},
                 {"sections", std::move(sections)},
                 {"summary", {{"cells", count}, {"failed", targets.failed}}}};
  return out.dump(2) + '\n';
}

}  // namespace tiersim
