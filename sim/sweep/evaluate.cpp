#include "sim/sweep/evaluate.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "sim/base/sha256.hpp"
#include "sim/base/units.hpp"
#include "sim/record/compact_record.hpp"

namespace tiersim {
namespace {

// Each mistake once, all on one line.
std::string one_line(const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics.list()) {
    if (!out.empty()) out += "; ";
    out += d.path.empty() ? d.message : d.path + ": " + d.message;
    if (!d.hint.empty()) out += " (" + d.hint + ')';
  }
  return out;
}

Expected<RunRecord> run(const ReadPoint& point, Evaluation evaluation, SweepKeep keep) {
  const auto* scenario = std::get_if<ScenarioConfig>(&*point.config);
  if (scenario == nullptr || !point.repeated)
    return run(*point.config, evaluation, Provenance::classes);
  return point.repeated->record(*scenario, evaluation,
                                keep == SweepKeep::metrics ? Results::metrics : Results::all);
}

}  // namespace

ReadPoint read_point(const PointLoader& loader, const Point& point) {
  Node ignored;
  ReadPoint out = read_point_without_id(loader, point, ignored);
  if (out.config) out.id = run_id_of(*out.config);
  return out;
}

ReadPoint read_point_without_id(const PointLoader& loader, const Point& point, Node& root) {
  ReadPoint out;
  Diagnostics diagnostics;
  Document document = loader.load(point, diagnostics);
  Runnable config = read_runnable(document, diagnostics);
  if (diagnostics.ok()) out.config = std::move(config);
  root = std::move(document).take_root();
  if (diagnostics.ok()) return out;
  PointOutcome failed = failed_point(point, diagnostics);
  out.id = std::move(failed.id);
  out.problem = std::move(failed.problem);
  return out;
}

std::string configuration_json(const ReadPoint& point) {
  return point.config ? canonical_json(*point.config) : "";
}

PointOutcome failed_point(const Point& point, const Diagnostics& diagnostics) {
  std::string text = point.scenario.string();
  for (const std::string& option : point.set) text += '\n' + option;
  return {sha256_hex(text), PointStatus::error, one_line(diagnostics), ""};
}

PointOutcome evaluate(const ReadPoint& point, SweepReading reading, SweepKeep keep) {
  if (!point.problem.empty()) return {point.id, PointStatus::error, point.problem, ""};
  try {
    static_assert(static_cast<int>(SweepReading::all) == static_cast<int>(Evaluation::all));
    const auto record = run(point, static_cast<Evaluation>(reading), keep);
    if (!record) return {point.id, PointStatus::infeasible, record.error(), ""};
    return {point.id, PointStatus::ok, "",
            keep == SweepKeep::metrics ? compact_metrics(*record)
                                       : compact_results(*record, Setup::included)};
  } catch (const std::exception& error) {
    return {point.id, PointStatus::error, fmt::format("internal: {}", error.what()), ""};
  }
}

}  // namespace tiersim
