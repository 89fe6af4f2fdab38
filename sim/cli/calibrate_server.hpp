#pragma once
// tiersim calibrate server: a fit of server.host to runs of the user's own server.
#include "sim/cli/command_line.hpp"

namespace tiersim::cli {

void add_calibrate_server(Verb calibrate);

}  // namespace tiersim::cli
