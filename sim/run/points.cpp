#include "sim/run/points.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "sim/config/describe.hpp"
#include "sim/config/overlay.hpp"
#include "sim/config/overrides.hpp"
#include "sim/run/serving/serve.hpp"

namespace tiersim {
namespace {

// Whether an option may name files, so that it must be there when the scenario is loaded. Any other
// can lie over the loaded tree as well, which is what loading would make of it.
bool may_name_files(const std::string& option, const std::vector<Importer>& importers) {
  const std::size_t equals = option.find('=');
  if (equals == std::string::npos) return true;  // wrong anyway: let the loader say so
  if (option.find_first_of("{[&*", equals) != std::string::npos) return true;
  // Any part of the path: `gpu.calibration.0` is an element of a list of names.
  std::istringstream path(option.substr(0, equals));
  for (std::string key; std::getline(path, key, '.');)
    if (key == "base" || std::ranges::find(importers, key, &Importer::key) != importers.end())
      return true;
  return false;
}

bool is_of_server(const Document& document) {
  const auto& schemas = document.root().schemas;  // the file's own is the last
  return !schemas.empty() && schemas.back().kind == "serving";
}

template <class Record>
PointResult result_of(Expected<Record> simulated) {
  if (!simulated) return {nullptr, simulated.error()};
  if constexpr (std::is_same_v<Record, RunRecord>)
    return {std::make_shared<const RunRecord>(*std::move(simulated))};
  else
    return {std::make_shared<const RunRecord>((*std::move(simulated)).record)};
}

}  // namespace

Document PointRunner::load(const Point& point, Diagnostics& diagnostics) {
  std::vector<std::string> values;
  options_.overrides.clear();
  for (const auto* set : {&std::as_const(common_), &point.set})
    for (const std::string& option : *set)
      (may_name_files(option, options_.importers) ? options_.overrides : values).push_back(option);
  const Point files{point.scenario, options_.overrides};
  auto it = loaded_.find(files);
  if (it == loaded_.end()) {
    Diagnostics own;
    Document document = load_document(point.scenario, options_, own);
    for (Diagnostic& diagnostic : own.list()) diagnostics.report(std::move(diagnostic));
    if (!own.ok()) return document;
    it = loaded_.emplace(files, std::move(document)).first;
  }
  options_.overrides = values;
  return Document(
      overlay_bases(it->second.root(), parse_overrides(options_, diagnostics), diagnostics));
}

PointResult PointRunner::run(const Point& point, Readings readings, Diagnostics& diagnostics) {
  const std::pair key{point, readings};
  if (const auto it = done_.find(key); it != done_.end()) return it->second;
  Diagnostics own;
  const Document document = load(point, own);
  PointResult result;
  if (is_of_server(document)) {
    const auto config = read<ServingConfig>(document, "serving", own);
    if (own.ok()) result = result_of(serve(config));
  } else {
    const auto config = read<ScenarioConfig>(document, "scenario", own);
    if (own.ok()) result = result_of(simulate(config, readings));
  }
  for (Diagnostic& diagnostic : own.list()) diagnostics.report(std::move(diagnostic));
  if (!own.ok()) return {};
  return done_.emplace(key, std::move(result)).first->second;
}

bool PointRunner::takes_whole_numbers(const Point& point, const std::string& key) {
  Diagnostics ignored;
  const Document document = load(point, ignored);
  if (is_of_server(document))
    return tiersim::takes_whole_numbers(read<ServingConfig>(document, "serving", ignored), key);
  return tiersim::takes_whole_numbers(read<ScenarioConfig>(document, "scenario", ignored), key);
}

PointResult PointRunner::run_largest_batch(Point point, Diagnostics& diagnostics) {
  PointResult footprint = run(point, Readings::accounting, diagnostics);
  if (!footprint.record) return footprint;
  const double batch = footprint.record->metrics.at("max_batch").value;
  if (batch < 1) return {nullptr, "not even one sequence fits at this context"};
  point.set.push_back(fmt::format("step.batch={:.0f}", batch));
  return run(point, Readings::times, diagnostics);
}

}  // namespace tiersim
