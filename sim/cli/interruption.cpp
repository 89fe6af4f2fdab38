#include "sim/cli/interruption.hpp"

#include <csignal>

namespace tiersim::cli {
namespace {

static_assert(std::atomic<bool>::is_always_lock_free);  // signal handlers may use only such types
std::atomic<bool> interrupted = false;

void on_signal(int /*signal*/) {
  interrupted = true;
}

}  // namespace

const std::atomic<bool>& catch_interruption() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  return interrupted;
}

}  // namespace tiersim::cli
