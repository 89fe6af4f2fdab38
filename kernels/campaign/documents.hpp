// The files of the campaign: one JSON document for each stage, readable by any reader of Google
// Benchmark's JSON (context, benchmarks with name, real_time, time_unit). Reference:
// configs/schema/campaign.schema.json.
#pragma once
#include <string>
#include <vector>

#include "kernels/campaign/json.hpp"
#include "kernels/campaign/schema.hpp"

namespace tiersim::kernels::bench {

constexpr const char* kTimingsSchema = "tiersim.kernel_timings/v1";
constexpr const char* kChecksSchema = "tiersim.kernel_checks/v1";
constexpr const char* kCompositionSchema = "tiersim.kernel_composition/v1";

// The schema name of a stage's document; std::invalid_argument for an unknown stage.
const char* schema_of_stage(const std::string& stage);

// The shape of a document by its schema name; std::invalid_argument for an unknown one.
Shape document_shape(const std::string& schema);

// The JSON schema of all three documents, as shipped in configs/schema/campaign.schema.json.
std::string shipped_schema();

// All errors of a document, each with its place. The shape is checked first, then the rules that a
// shape cannot state: orders, intervals, agreement, physics, and the class of the numbers.
// measurements: also refuse numbers that were not measured on a card.
struct Verdict {
  std::vector<std::string> malformed;   // shape, orders, labels
  std::vector<std::string> impossible;  // physics and tolerances
  bool holds() const { return malformed.empty() && impossible.empty(); }
};
Verdict judge(const Json& document, bool measurements);

}  // namespace tiersim::kernels::bench
