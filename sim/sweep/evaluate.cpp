#include "sim/sweep/evaluate.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "sim/base/sha256.hpp"
#include "sim/base/units.hpp"
#include "sim/config/describe.hpp"
#include "sim/run/compact_record.hpp"
#include "sim/run/serving/serve.hpp"
#include "sim/run/simulate.hpp"

namespace tiersim {
namespace {

// Each mistake once, on one line.
std::string one_line(const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics.list()) {
    if (!out.empty()) out += "; ";
    out += d.path.empty() ? d.message : d.path + ": " + d.message;
    if (!d.hint.empty()) out += " (" + d.hint + ')';
  }
  return out;
}

template <class Config>
void read_as(const Document& document, const char* kind, ReadPoint& out, Diagnostics& diagnostics) {
  auto config = read<Config>(document, kind, diagnostics);
  if (!diagnostics.ok()) return;
  out.id = sha256_hex(canonical_text_for_id(config));
  out.config = std::move(config);
}

Expected<RunRecord> record_of(const ReadPoint& point, SweepReading reading) {
  if (const auto* serving = std::get_if<ServingConfig>(&point.config)) return serve(*serving);
  static_assert(static_cast<int>(SweepReading::all) == static_cast<int>(Readings::all));
  auto simulation = simulate(std::get<ScenarioConfig>(point.config), static_cast<Readings>(reading),
                             Provenance::classes);
  if (!simulation) return Unexpected(simulation.error());
  return (*std::move(simulation)).record;
}

}  // namespace

ReadPoint read_point(const PointLoader& loader, const Point& point) {
  Node ignored;
  return read_point(loader, point, ignored);
}

ReadPoint read_point(const PointLoader& loader, const Point& point, Node& root) {
  ReadPoint out;
  Diagnostics diagnostics;
  Document document = loader.load(point, diagnostics);
  if (is_of_server(document))
    read_as<ServingConfig>(document, "serving", out, diagnostics);
  else
    read_as<ScenarioConfig>(document, "scenario", out, diagnostics);
  root = std::move(document).take_root();
  if (diagnostics.ok()) return out;
  PointOutcome failed = failed_point(point, diagnostics);
  out.id = std::move(failed.id);
  out.problem = std::move(failed.problem);
  return out;
}

std::string configuration_json(const ReadPoint& point) {
  if (const auto* serving = std::get_if<ServingConfig>(&point.config))
    return canonical_json(*serving);
  if (const auto* scenario = std::get_if<ScenarioConfig>(&point.config))
    return canonical_json(*scenario);
  return "";
}

PointOutcome failed_point(const Point& point, const Diagnostics& diagnostics) {
  std::string text = point.scenario.string();
  for (const std::string& option : point.set) text += '\n' + option;
  return {sha256_hex(text), PointStatus::error, one_line(diagnostics), ""};
}

PointOutcome evaluate(const ReadPoint& point, SweepReading reading, SweepKeep keep) {
  if (!point.problem.empty()) return {point.id, PointStatus::error, point.problem, ""};
  try {
    const auto record = record_of(point, reading);
    if (!record) return {point.id, PointStatus::infeasible, record.error(), ""};
    return {point.id, PointStatus::ok, "",
            keep == SweepKeep::metrics ? compact_metrics(*record)
                                       : compact_results(*record, Setup::included)};
  } catch (const std::exception& error) {
    return {point.id, PointStatus::error, fmt::format("internal: {}", error.what()), ""};
  }
}

}  // namespace tiersim
