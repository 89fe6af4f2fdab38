// tiersim: parses the command line, runs one verb, maps every outcome to an exit code.
#include <cstdio>
#include <exception>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/text.hpp"
#include "sim/cli/command.hpp"
#include "sim/run/version.hpp"

namespace tiersim::cli {
namespace {

void add_verbs(CLI::App& app, Action& action) {
  app.description("Performance simulator of memory tiers and interconnects for LLM inference.");
  app.set_version_flag("--version", fmt::format("tiersim {}", kVersion));
  app.require_subcommand(0, 1);
  app.footer(
      "Exit status: 0 ok, 1 internal, 2 usage, 3 bad configuration, 5 target missed.\n"
      "`tiersim VERB --help` says more about a verb. `./tiersim test` runs the tests.");
  add_run(app, action);
  add_reproduce(app, action);
  add_solve(app, action);
  add_config(app, action);
  add_list(app, action);
  add_rerun(app, action);
  add_doctor(app, action);
  add_completion(app, action);
}

// CLI11 has error codes of its own; people get ours, and the nearest verb to what they typed.
ExitCode usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  fmt::print(stderr, "tiersim: error: {}\n", error.what());
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands({})) verbs.push_back(verb->get_name());
  if (argc > 1 && app.get_subcommands().empty()) {
    const auto near = nearest(argv[1], verbs);
    if (near.empty()) {
      fmt::print(stderr, "tiersim: the verbs are: {}\n", join(verbs));
    } else {
      fmt::print(stderr, "tiersim: did you mean '{}'?\n", near);
    }
  } else {
    fmt::print(stderr, "tiersim: `tiersim --help` lists what there is\n");
  }
  return ExitCode::usage;
}

ExitCode run(int argc, char** argv) {
  CLI::App app;
  app.name("tiersim");
  Action action;
  add_verbs(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    app.exit(success);
    return ExitCode::ok;
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, argc, argv);
  }
  if (!action) {
    fmt::print(stderr, "{}", app.help());
    return ExitCode::usage;
  }
  try {
    return action();
  } catch (const Failure& failure) {
    fmt::print(stderr, "{}\n", failure.what());
    return failure.code;
  }
}

}  // namespace
}  // namespace tiersim::cli

int main(int argc, char** argv) {
  using tiersim::cli::ExitCode;
  try {
    ExitCode code = tiersim::cli::run(argc, argv);
    // A full disk or a closed pipe behind stdout shows only here.
    if (std::fflush(stdout) != 0 && code == ExitCode::ok) {
      std::perror("tiersim: error: cannot write to standard output");
      code = ExitCode::internal;
    }
    return static_cast<int>(code);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tiersim: internal error: %s\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}
