#include "sim/runner/point_runner.hpp"

#include <utility>

#include <fmt/format.h>

namespace tiersim {

PointResult PointRunner::run(const Point& point, Evaluation evaluation, Diagnostics& diagnostics) {
  const std::pair key{point, evaluation};
  if (const auto it = done_.find(key); it != done_.end()) return it->second;
  Diagnostics own;
  if (!loader_.prepare(point, diagnostics)) return {};
  const Document document = loader_.load(point, own);
  PointResult result;
  const Runnable config = read_runnable(document, own);
  if (own.ok()) {
    auto record = tiersim::run(config, evaluation, provenance_);
    if (record)
      result.record = std::make_shared<const RunRecord>(*std::move(record));
    else
      result.problem = record.error();
  }
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

PointResult PointRunner::run_largest_batch(Point point, Diagnostics& diagnostics) {
  PointResult footprint = run(point, Evaluation::accounting, diagnostics);
  if (!footprint.record) return footprint;
  const double batch = footprint.record->metrics.at("max_batch").value;
  if (batch < 1) return {nullptr, "not even one sequence fits at this context"};
  point.set.push_back(fmt::format("step.batch={:.0f}", batch));
  return run(point, Evaluation::times, diagnostics);
}

}  // namespace tiersim
