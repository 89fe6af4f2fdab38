#pragma once
// Makes the report of a paper from its targets: loads, simulates and compares. Throws Failure with
// every mistake of a file.
#include <filesystem>
#include <string>
#include <vector>

#include "reports/papers/reproduce/paper_report.hpp"
#include "sim/runner/point_runner.hpp"
#include "sim/step/simulate.hpp"

namespace tiersim {

/// Reads and checks targets, with the columns and metrics that they name.
Targets load_targets(const std::filesystem::path& path);

std::vector<ReproducedRow> reproduce_rows(const Targets& targets, PointRunner& runner);

/// Reproduces the steps; the overrides of `files` lie under each step's own settings. The steps
/// that run are also added to `simulations`, for a timeline, unless that is null.
std::vector<ReproducedStep> reproduce_steps(const Targets& targets, const LoadOptions& files,
                                            std::vector<Simulation>* simulations);

std::vector<ReproducedStudy> reproduce_studies(const Targets& targets, PointRunner& runner);

std::vector<SolveResult> reproduce_solves(const Targets& targets, PointRunner& runner);

}  // namespace tiersim
