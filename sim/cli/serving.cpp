#include "sim/cli/serving.hpp"

#include "sim/run/serving/serve.hpp"

namespace tiersim::cli {
namespace {

// A trace that was another file when the configuration was loaded is the workload's fault; whatever
// else cannot be served does not fit.
Diagnostic explained(const ServingFile& file, const std::string& problem) {
  const auto& config = file.config;
  if (const auto source =
          make_request_source(config.workload, static_cast<std::uint64_t>(config.seed));
      !source)
    return {file.document.locate("workload.replay"), problem, "the file that the trace was"};
  return {file.document.locate("server.kv"), problem,
          "shorter requests, a smaller reserve, more GPUs for a replica or a larger tier"};
}

}  // namespace

RunRecord run_serving(const ServingFile& file) {
  auto record = serve(file.config);
  if (!record) {
    Diagnostics diagnostics;
    diagnostics.report(explained(file, record.error()));
    throw_if_any(diagnostics);
  }
  return *std::move(record);
}

}  // namespace tiersim::cli
