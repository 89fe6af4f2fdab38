#pragma once
// The kinds of `tiersim report`, one report_<kind>.cpp each: adds its options to its own command
// and sets the action. cmd_report.cpp lists them with their help.
#include "sim/cli/command_line.hpp"

namespace tiersim::cli {

void add_report_footprint(Verb kind);
void add_report_io(Verb kind);
void add_report_bottleneck(Verb kind);
void add_report_curves(Verb kind);
void add_report_pareto(Verb kind);
void add_report_sensitivity(Verb kind);
void add_report_html(Verb kind);

}  // namespace tiersim::cli
