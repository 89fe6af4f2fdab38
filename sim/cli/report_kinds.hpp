#pragma once
// The kinds of `tiersim report`, one report_<kind>.cpp each: adds its options to its own command
// and sets the action. cmd_report.cpp lists them with their help.
#include "sim/cli/command.hpp"

namespace tiersim::cli {

void add_report_footprint(CLI::App& kind, Action& action);
void add_report_io(CLI::App& kind, Action& action);
void add_report_bottleneck(CLI::App& kind, Action& action);
void add_report_curves(CLI::App& kind, Action& action);
void add_report_pareto(CLI::App& kind, Action& action);
void add_report_sensitivity(CLI::App& kind, Action& action);
void add_report_html(CLI::App& kind, Action& action);

}  // namespace tiersim::cli
