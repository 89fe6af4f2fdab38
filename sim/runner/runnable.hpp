#pragma once
// A configuration that can be run: a scenario of one step, or a server under load. All code that
// works for both uses this type.
#include <string>
#include <variant>

#include "sim/config/document.hpp"
#include "sim/record/run_record.hpp"
#include "sim/serving/serving_config.hpp"
#include "sim/step/scenario.hpp"
#include "sim/step/simulate.hpp"

namespace tiersim {

using Runnable = std::variant<ScenarioConfig, ServingConfig>;

/// True for a server under load, which has a `workload`; false for the scenario of a step.
bool is_of_server(const Document& document);

/// Reads the kind that the document has. Mistakes go to `diagnostics`; the result is then invalid.
Runnable read_runnable(const Document& document, Diagnostics& diagnostics);

/// The record of one run. The error tells the user what does not fit. A server is always evaluated
/// in full.
Expected<RunRecord> run(const Runnable& config, Evaluation evaluation = Evaluation::all,
                        Provenance provenance = Provenance::full);

/// Canonical JSON of the configuration, as a record holds it.
std::string canonical_json(const Runnable& config);
/// SHA-256 of the canonical configuration: the run id of its record.
std::string run_id_of(const Runnable& config);
std::string run_id_of(const ScenarioConfig& config);
/// True where the setting is a count.
bool takes_whole_numbers(const Runnable& config, const std::string& key);

}  // namespace tiersim
