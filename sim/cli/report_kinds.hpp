#pragma once
// The kinds of `tiersim report`, one report_<kind>.cpp each. Each function adds options to its
// command and sets the action. cmd_report.cpp lists the kinds with their help.
#include "sim/cli/command_line.hpp"

namespace tiersim::cli {

void add_report_footprint(Verb kind);
void add_report_io(Verb kind);
void add_report_bottleneck(Verb kind);
void add_report_curves(Verb kind);
void add_report_marginal(Verb kind);
void add_report_pareto(Verb kind);
void add_report_sensitivity(Verb kind);
void add_report_html(Verb kind);

}  // namespace tiersim::cli
