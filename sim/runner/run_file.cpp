#include "sim/runner/run_file.hpp"

#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "sim/serving/kv_layout.hpp"
#include "sim/serving/pools.hpp"
#include "sim/step/accounting.hpp"
#include "sim/step/costs.hpp"

namespace tiersim {
namespace {

// The reason why a scenario that could be read has no record.
enum class Cause : std::uint8_t {
  capacity,  // a tier is too small
  system,    // a bandwidth of the system is out of range
  step,      // a size or a time of the step is out of range
  draw,      // only a draw from the intervals of its numbers fails
};

Cause cause_of(const ScenarioConfig& config) {
  if (simulate(config, Evaluation::times)) return Cause::draw;
  std::optional<System> system;
  try {
    system.emplace(build_system(config));
  } catch (const UnitOverflow&) {
    return Cause::system;
  }
  try {
    if (!overflows(build_graph(config, *system), *system).empty()) return Cause::capacity;
  } catch (const UnitOverflow&) {  // as below
  }
  return Cause::step;
}

bool countable(const std::string& path, const std::vector<std::string>& set) {
  Diagnostics diagnostics;
  const Document document = load_document(path, standard_options(set), diagnostics);
  const auto config = read<ScenarioConfig>(document, "scenario", diagnostics);
  return diagnostics.ok() &&
         (simulate(config, Evaluation::times) || cause_of(config) == Cause::capacity);
}

// The key of the last --set that causes the overflow; empty if none does.
std::string blamed_key(const std::string& path, const std::vector<std::string>& set) {
  for (std::size_t i = set.size(); i-- > 0;) {
    std::vector<std::string> others = set;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (countable(path, others)) return set[i].substr(0, set[i].find('='));
  }
  return "";
}

Diagnostic explained(const Document& document, const ScenarioConfig& config,
                     const std::string& path, const std::vector<std::string>& set,
                     const std::string& problem) {
  const Cause cause = cause_of(config);
  if (cause == Cause::capacity)
    return {document.locate("step.batch"), problem,
            "a smaller batch or context, another placement or a larger tier"};
  if (cause == Cause::draw) {
    std::string key;  // of the first interval of what is simulated
    for (const SourcedNumber& number : list_numbers(config))
      if (key.empty() && number.ci95 && !only_in_costs(number.path, config))
        key = number.path + ".ci95";
    return {document.locate(key), problem, "narrower intervals, or room for what they hold"};
  }
  std::string key = blamed_key(path, set);
  if (key.empty()) key = cause == Cause::step ? "step" : "system";
  return {document.locate(key), problem, "smaller sizes or rates"};
}

// Finds the cause: the pool or a stated room is too small for a block, the trace file has changed
// since it was loaded, or else a request exceeds the pool or an iteration.
Diagnostic explained(const Document& document, const ServingConfig& config,
                     const std::string& problem) {
  if (problem.find("has lost its replica") != std::string::npos)
    return {document.locate("server.failures"), problem, "a longer mean_time_between"};
  try {
    for (const auto& [name, pool] : pools_of(config)) {
      const auto layout = kv_layout(pool, build_stage_system(pool.scenario));
      if (layout) continue;
      if (problem.starts_with("server.")) {
        const bool of_size = problem.find(" is ") != std::string::npos;
        return {document.locate(problem.substr(0, problem.find(':'))), problem,
                of_size ? "between a block and what is left over" : "leave it out"};
      }
      if (problem.starts_with("ffn: "))
        return {document.locate("ffn"), problem,
                "weights of fewer bytes, fewer server.scheduler.max_batched_tokens, more GPUs "
                "(ffn.system.gpus.count), a larger placement.near_share or a larger tier"};
      return {document.locate(name.empty() ? "placement" : name), problem,
              fmt::format("weights of fewer bytes, more GPUs for a replica ({}parallel.tensor), a "
                          "larger share (placement.near_share) or a larger tier",
                          name.empty() ? "" : name + ".")};
    }
    if (const auto source =
            make_request_source(config.workload, static_cast<std::uint64_t>(config.seed));
        !source)
      return {document.locate("workload.replay"), problem,
              "the file that was imported, and its own workload.prefix_block"};
  } catch (const UnitOverflow&) {
    return {document.locate("workload"), problem, "smaller sizes or rates"};
  }
  std::string room;  // what gives a request more of it, in any of the pools
  for (const auto& [name, pool] : pools_of(config))
    room += name + (name.empty() ? "" : ".") + "parallel.tensor, ";
  room += "server.scheduler, server.kv";
  if (config.workload.sessions)
    return {document.locate("workload.sessions"), problem, "a lower max_context, or room: " + room};
  return {document.locate(config.workload.input ? "workload.input" : "workload"), problem,
          "shorter requests, or room for them: " + room};
}

[[noreturn]] void fail(Diagnostic diagnostic) {
  Diagnostics diagnostics;
  diagnostics.report(std::move(diagnostic));
  throw_if_any(diagnostics);
  std::terminate();  // a diagnostic was reported
}

}  // namespace

Simulation run_step(const RunnableFile& file, const std::string& path,
                    const std::vector<std::string>& set) {
  const auto& config = std::get<ScenarioConfig>(file.config);
  auto result = simulate(config, Evaluation::all);
  if (!result) fail(explained(file.document, config, path, set, result.error()));
  return *std::move(result);
}

RunRecord run_server(const RunnableFile& file, ServingListener* listener, int threads) {
  const auto& config = std::get<ServingConfig>(file.config);
  auto record = serve(config, listener, threads);
  if (!record) fail(explained(file.document, config, record.error()));
  return *std::move(record);
}

RunRecord run_file(const RunnableFile& file, const std::string& path,
                   const std::vector<std::string>& set) {
  if (std::holds_alternative<ServingConfig>(file.config)) return run_server(file);
  return run_step(file, path, set).record;
}

}  // namespace tiersim
