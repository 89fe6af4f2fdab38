#include "sim/run/points.hpp"

#include <utility>

#include <fmt/format.h>

#include "sim/config/describe.hpp"
#include "sim/run/serving/serve.hpp"

namespace tiersim {
namespace {

template <class Record>
PointResult result_of(Expected<Record> simulated) {
  if (!simulated) return {nullptr, simulated.error()};
  if constexpr (std::is_same_v<Record, RunRecord>)
    return {std::make_shared<const RunRecord>(*std::move(simulated))};
  else
    return {std::make_shared<const RunRecord>((*std::move(simulated)).record)};
}

}  // namespace

PointResult PointRunner::run(const Point& point, Readings readings, Diagnostics& diagnostics) {
  const std::pair key{point, readings};
  if (const auto it = done_.find(key); it != done_.end()) return it->second;
  Diagnostics own;
  if (!loader_.prepare(point, diagnostics)) return {};
  const Document document = loader_.load(point, own);
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
  if (!loader_.prepare(point, ignored)) return false;
  const Document document = loader_.load(point, ignored);
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
