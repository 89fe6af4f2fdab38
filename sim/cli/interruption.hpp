#pragma once
// Treats Ctrl-C and a scheduler's SIGTERM as a request to end in order; a second signal ends at
// once.
#include <atomic>

namespace tiersim::cli {

/// From now on these signals set the returned flag.
const std::atomic<bool>& catch_interruption();

}  // namespace tiersim::cli
