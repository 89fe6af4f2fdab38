// tiersim doctor: what this program found on this machine.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <thread>

#include "sim/cli/command.hpp"
#include "sim/cli/files.hpp"
#include "sim/run/version.hpp"

namespace tiersim::cli {
namespace {

ExitCode doctor() {
  fmt::print("tiersim   {}\n", kVersion);
  fmt::print("compiler  {}\n",
#if defined(__clang__)
             "clang " __clang_version__
#else
             "g++ " __VERSION__
#endif
  );
  fmt::print("threads   {}\n", std::thread::hardware_concurrency());
  fmt::print("configs   {}\n", config_root().string());
  fmt::print("targets   {}\n", targets_root().string());
  return ExitCode::ok;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  app.add_subcommand("doctor", "Say what the program found on this machine")->callback([&action] {
    action = doctor;
  });
}

}  // namespace tiersim::cli
