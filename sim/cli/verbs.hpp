#pragma once
// The verbs, one cmd_<verb>.cpp each, in the order of `tiersim --help`.
#include "sim/cli/command_line.hpp"

namespace tiersim::cli {

void add_run(Verb program);
void add_reproduce(Verb program);
void add_sweep(Verb program);
void add_merge(Verb program);
void add_report(Verb program);
void add_solve(Verb program);
void add_calibrate(Verb program);
void add_predict(Verb program);
void add_validate(Verb program);
void add_trace(Verb program);
void add_numerics(Verb program);
void add_config(Verb program);
void add_show(Verb program);
void add_list(Verb program);
void add_compare(Verb program);
void add_rerun(Verb program);
void add_doctor(Verb program);
void add_examples(Verb program);
void add_cite(Verb program);
/// Also adds `man`. The command line must outlive the verb.
void add_completion(Verb program, const CommandLine& command_line);

}  // namespace tiersim::cli
