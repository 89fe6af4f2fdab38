// The campaign's files: one JSON document a stage, readable by whatever reads Google Benchmark's
// JSON (context, benchmarks with name, real_time, time_unit). docs:
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

// Which document a stage writes; std::invalid_argument for a stage that is none.
const char* schema_of_stage(const std::string& stage);

// The shape of a document by its schema name; std::invalid_argument for an unknown one.
Shape document_shape(const std::string& schema);

// The JSON schema of all three, as shipped in configs/schema/campaign.schema.json.
std::string shipped_schema();

// Everything that is wrong with a document, each with its place: its shape, then what the shape
// cannot say (orders, intervals, agreement, physics, whether it may call itself a measurement).
// measurements: also refuse what was not measured on a card.
struct Verdict {
  std::vector<std::string> malformed;   // shape, orders, labels
  std::vector<std::string> impossible;  // physics and tolerances
  bool holds() const { return malformed.empty() && impossible.empty(); }
};
Verdict judge(const Json& document, bool measurements);

}  // namespace tiersim::kernels::bench
