#include "sim/cli/running.hpp"

#include <cstdint>
#include <optional>

#include "sim/run/accounting.hpp"

namespace tiersim::cli {
namespace {

// Why a scenario that could be read has no record.
enum class Cause : std::uint8_t {
  capacity,  // a tier is too small
  system,    // a bandwidth of the system is beyond what can be counted
  step,      // a size or a time of the step is
  draw,      // only a draw from the intervals of its numbers fails
};

Cause cause_of(const ScenarioConfig& config) {
  if (simulate(config, Readings::times)) return Cause::draw;
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
         (simulate(config, Readings::times) || cause_of(config) == Cause::capacity);
}

// The key of the last --set without which all could be counted; empty where none is to blame.
std::string blamed_key(const std::string& path, const std::vector<std::string>& set) {
  for (std::size_t i = set.size(); i-- > 0;) {
    std::vector<std::string> others = set;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (countable(path, others)) return set[i].substr(0, set[i].find('='));
  }
  return "";
}

Diagnostic explained(const ScenarioFile& file, const std::string& path,
                     const std::vector<std::string>& set, const std::string& problem) {
  const Cause cause = cause_of(file.config);
  if (cause == Cause::capacity)
    return {file.document.locate("step.batch"), problem,
            "a smaller batch or context, another placement or a larger tier"};
  if (cause == Cause::draw) {
    std::string key;  // of the first interval
    for (const SourcedNumber& number : list_numbers(file.config))
      if (key.empty() && number.ci95) key = number.path + ".ci95";
    return {file.document.locate(key), problem, "narrower intervals, or room for what they hold"};
  }
  std::string key = blamed_key(path, set);
  if (key.empty()) key = cause == Cause::step ? "step" : "system";
  return {file.document.locate(key), problem, "smaller sizes or rates"};
}

}  // namespace

Simulation run_scenario(const ScenarioFile& file, const std::string& path,
                        const std::vector<std::string>& set) {
  auto result = simulate(file.config, Readings::all);
  if (!result) {
    Diagnostics diagnostics;
    diagnostics.report(explained(file, path, set, result.error()));
    throw_if_any(diagnostics);
  }
  return *std::move(result);
}

}  // namespace tiersim::cli
