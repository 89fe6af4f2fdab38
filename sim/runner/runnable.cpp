#include "sim/runner/runnable.hpp"

#include <utility>

#include "sim/base/sha256.hpp"
#include "sim/config/describe.hpp"
#include "sim/serving/serve.hpp"

namespace tiersim {

bool is_of_server(const Document& document) {
  const auto& schemas = document.root().schemas;  // the last is the file's own
  if (!schemas.empty()) return schemas.back().kind == "serving";
  return document.root().find("workload") != nullptr;  // the `config` of a record has no kind
}

Runnable read_runnable(const Document& document, Diagnostics& diagnostics) {
  if (is_of_server(document)) return read<ServingConfig>(document, "serving", diagnostics);
  return read<ScenarioConfig>(document, "scenario", diagnostics);
}

Expected<RunRecord> run(const Runnable& config, Evaluation evaluation, Provenance provenance) {
  if (const auto* serving = std::get_if<ServingConfig>(&config)) return serve(*serving);
  auto simulated = simulate(std::get<ScenarioConfig>(config), evaluation, provenance);
  if (!simulated) return Unexpected(simulated.error());
  return (*std::move(simulated)).record;
}

std::string canonical_json(const Runnable& config) {
  return std::visit([](const auto& one) { return canonical_json(one); }, config);
}

std::string run_id_of(const Runnable& config) {
  return std::visit([](const auto& one) { return sha256_hex(canonical_text_for_id(one)); }, config);
}

std::string run_id_of(const ScenarioConfig& config) {
  return sha256_hex(canonical_text_for_id(config));
}

bool takes_whole_numbers(const Runnable& config, const std::string& key) {
  const std::string_view path = key;
  return std::visit([&](const auto& one) { return takes_whole_numbers(one, path); }, config);
}

}  // namespace tiersim
