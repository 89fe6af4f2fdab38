#include "sim/cli/serving.hpp"

#include "sim/run/serving/kv_layout.hpp"
#include "sim/run/serving/serve.hpp"

namespace tiersim::cli {
namespace {

// Whose fault it is: the pool or a stated room has none for a block, the trace is another file than
// when it was loaded, or else a request is more than the pool or an iteration can take.
Diagnostic explained(const ServingFile& file, const std::string& problem) {
  const ServingConfig& config = file.config;
  const Document& document = file.document;
  try {
    if (const auto layout = kv_layout(config, build_replica_system(config.scenario)); !layout) {
      if (problem.starts_with("server."))
        return {document.locate(problem.substr(0, problem.find(':'))), problem,
                "between a block and what is left over"};
      return {document.locate("placement"), problem,
              "weights of fewer bytes, more GPUs for a replica (parallel.tensor), a larger share "
              "(placement.near_share) or a larger tier"};
    }
    if (const auto source =
            make_request_source(config.workload, static_cast<std::uint64_t>(config.seed));
        !source)
      return {document.locate("workload.replay"), problem,
              "the file that was imported, and its own workload.prefix_block"};
  } catch (const UnitOverflow&) {
    return {document.locate("workload"), problem, "smaller sizes or rates"};
  }
  return {document.locate(config.workload.input ? "workload.input" : "workload"), problem,
          "shorter requests, or room for them: parallel.tensor, server.scheduler, server.kv"};
}

}  // namespace

RunRecord run_serving(const ServingFile& file, ServingTraceRequest* trace) {
  auto record = serve(file.config, trace);
  if (!record) {
    Diagnostics diagnostics;
    diagnostics.report(explained(file, record.error()));
    throw_if_any(diagnostics);
  }
  return *std::move(record);
}

}  // namespace tiersim::cli
