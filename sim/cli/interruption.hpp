#pragma once
// Ctrl-C and a scheduler's SIGTERM as a request to end in order. A second one ends at once.
#include <atomic>

namespace tiersim::cli {

/// From now on the signals set the flag that is returned.
const std::atomic<bool>& catch_interruption();

}  // namespace tiersim::cli
