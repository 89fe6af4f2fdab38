// tiersim doctor: prints the files and features that the program finds on this machine.
#include <fmt/format.h>
#include <thread>

#include "sim/base/text.hpp"
#include "sim/base/version.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/runner/files.hpp"

namespace tiersim::cli {
namespace {

// Prints the folder, or the reason why there is none: the other lines are still useful then.
ExitCode print_folder(const char* title, std::filesystem::path (*find)()) {
  try {
    fmt::print("{} {}\n", title, printable(find().string()));
    return ExitCode::ok;
  } catch (const Failure& failure) {
    fmt::print("{} none\n", title);
    fmt::print(stderr, "{}\n", failure.what());
    return failure.code;
  }
}

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
  const ExitCode configs = print_folder("configs  ", config_root);
  const ExitCode targets = print_folder("targets  ", targets_root);
  return configs == ExitCode::ok ? targets : configs;
}

}  // namespace

void add_doctor(Verb program) {
  program.add("doctor", "Print the tools and files that the program found on this machine")
      .on_chosen(doctor);
}

}  // namespace tiersim::cli
