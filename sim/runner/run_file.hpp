#pragma once
// One file, run: from what was loaded to its record, or to the mistake at the key that it comes
// from. All throw BadConfig where the file cannot be run: what does not fit, or cannot be counted.
#include <string>
#include <vector>

#include "sim/runner/load.hpp"
#include "sim/serving/serve.hpp"
#include "sim/step/simulate.hpp"

namespace tiersim {

/// One step or all requests, with intervals. `path` and `set` are those that `file` was loaded
/// from.
RunRecord run_file(const RunnableFile& file, const std::string& path,
                   const std::vector<std::string>& set);

/// The file holds a scenario: its record with all that it was made of.
Simulation run_step(const RunnableFile& file, const std::string& path,
                    const std::vector<std::string>& set);

/// The file holds a server: its record, with `listener` told what happens.
RunRecord run_server(const RunnableFile& file, ServingListener* listener = nullptr);

}  // namespace tiersim
