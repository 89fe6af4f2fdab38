#include "sim/runner/point_runner.hpp"

#include <utility>

#include <fmt/format.h>

namespace tiersim {
namespace {

PointResult result_of(Expected<RunRecord> made, Kept kept) {
  if (!made) return {.record = nullptr, .problem = made.error()};
  RunRecord record = *std::move(made);
  if (kept == Kept::results) record.config.clear();
  return {.record = std::make_shared<const RunRecord>(std::move(record))};
}

}  // namespace

PointResult PointRunner::run(const Point& point, Evaluation evaluation, Kept kept,
                             Diagnostics& diagnostics) {
  const std::tuple key{point, evaluation, kept};
  if (const auto it = done_.find(key); it != done_.end()) return it->second;
  Diagnostics own;
  if (!loader_.prepare(point, diagnostics)) return {};
  if (run_ && kept != Kept::all)
    if (auto record = run_(loader_, point, evaluation, kept))
      return done_.emplace(key, result_of(*std::move(record), kept)).first->second;
  const Document document = loader_.load(point, own);
  PointResult result;
  const Runnable config = read_runnable(document, own);
  const Provenance provenance = kept == Kept::all ? Provenance::full : Provenance::configuration;
  if (own.ok()) result = result_of(tiersim::run(config, evaluation, provenance), kept);
  for (Diagnostic& diagnostic : own.list()) diagnostics.report(std::move(diagnostic));
  if (!own.ok()) return {};
  return done_.emplace(key, std::move(result)).first->second;
}

Runnable PointRunner::config(const Point& point) {
  Diagnostics ignored;
  if (!loader_.prepare(point, ignored)) return {};
  return read_runnable(loader_.load(point, ignored), ignored);
}

bool PointRunner::takes_whole_numbers(const Point& point, const std::string& key) {
  return tiersim::takes_whole_numbers(config(point), key);
}

PointResult PointRunner::run_largest_batch(Point point, Kept kept, Diagnostics& diagnostics) {
  PointResult footprint = run(point, Evaluation::accounting, diagnostics);
  if (!footprint.record) return footprint;
  const double batch = footprint.record->metrics.at("max_batch").value;
  if (batch < 1) return {nullptr, "not even one sequence fits at this context"};
  point.set.push_back(fmt::format("step.batch={:.0f}", batch));
  return run(point, Evaluation::times, kept, diagnostics);
}

}  // namespace tiersim
