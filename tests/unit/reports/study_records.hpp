#pragma once
// Records of round numbers for the tests of studies.
#include <memory>
#include <string>

#include "reports/papers/studies/study_result.hpp"

namespace tiersim::testing {

/// A step of `weights` + `kv` seconds.
inline RunRecord step_record(double weights, double kv) {
  RunRecord r;
  r.run_id = "id";
  r.metrics["step_time_s"] = {weights + kv, "s", NumberClass::assumed};
  r.metrics["throughput_tokens_per_s"] = {1 / (weights + kv), "tokens/s", NumberClass::assumed};
  r.metrics["max_batch"] = {29, "sequences", NumberClass::specification};
  r.time_split = {{"weights", weights}, {"kv", kv},     {"compute", 0},    {"screening", 0},
                  {"link_wait", 0},     {"latency", 0}, {"collective", 0}, {"host", 0}};
  r.bounded_by = "hbm.bus";
  return r;
}

inline StudyRow row(std::vector<std::string> labels, RunRecord record) {
  return {{.labels = std::move(labels)}, std::make_shared<const RunRecord>(std::move(record))};
}
inline StudyRow row_without(std::vector<std::string> labels, std::string problem) {
  return {{.labels = std::move(labels)}, nullptr, std::move(problem)};
}

/// Weights take 1 s, keys and values 1 s at a context of 1, 2 s at 2, 4 s at 4.
inline StudyResult linear_study() {
  StudyResult result;
  result.study.id = "paper.figure";
  result.study.title = "A figure";
  result.study.axes = {{.name = "context", .key = "step.context", .values = {"1", "2", "4"}}};
  result.study.columns = {"step_time_s", "split", "bounded_by"};
  for (const int context : {1, 2, 4})
    result.rows.push_back(row({std::to_string(context)}, step_record(1, context)));
  return result;
}

}  // namespace tiersim::testing
