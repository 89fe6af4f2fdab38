#pragma once
// Runs one loaded file. Gives its record, or the mistake at its key. All functions throw BadConfig
// if the file cannot be run, because something does not fit or a number is out of range.
#include <string>
#include <vector>

#include "sim/runner/load.hpp"
#include "sim/serving/serve.hpp"
#include "sim/step/simulate.hpp"

namespace tiersim {

/// Runs one step or all requests, with intervals. `file` was loaded from `path` and `set`.
RunRecord run_file(const RunnableFile& file, const std::string& path,
                   const std::vector<std::string>& set);

/// For the file of a scenario: its record with all parts of the run.
Simulation run_step(const RunnableFile& file, const std::string& path,
                    const std::vector<std::string>& set);

/// For the file of a server: its record. `listener` receives the events of the run. Without one,
/// replicas that share nothing are simulated on `threads` threads.
RunRecord run_server(const RunnableFile& file, ServingListener* listener = nullptr,
                     int threads = 1);

}  // namespace tiersim
