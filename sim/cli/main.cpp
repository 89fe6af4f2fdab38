// tiersim: parses the command line, runs one verb, maps every outcome to an exit code.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/text.hpp"
#include "sim/cli/command.hpp"
#include "sim/run/version.hpp"
#include "sim/sweep/sqlite.hpp"

namespace tiersim::cli {
namespace {

void add_verbs(CLI::App& app, Action& action) {
  app.description("Performance simulator of memory tiers and interconnects for LLM inference.");
  app.set_version_flag("--version", fmt::format("tiersim {}", kVersion));
  app.require_subcommand(0, 1);
  app.footer(
      "Exit status: 0 ok, 1 internal, 2 usage, 3 bad configuration, 4 a point failed,\n"
      "5 target missed, 130 interrupted.\n"
      "`tiersim VERB --help` says more about a verb. `./tiersim test` runs the tests.");
  add_run(app, action);
  add_sweep(app, action);
  add_merge(app, action);
  add_reproduce(app, action);
  add_report(app, action);
  add_solve(app, action);
  add_calibrate(app, action);
  add_predict(app, action);
  add_validate(app, action);
  add_numerics(app, action);
  add_config(app, action);
  add_list(app, action);
  add_compare(app, action);
  add_rerun(app, action);
  add_doctor(app, action);
  add_completion(app, action);
}

// The verb, or what stands below it, that the arguments reached.
const CLI::App& reached(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : reached(*parsed.front());
}

// "list hw", as it is typed; empty for the program itself.
std::string typed(const CLI::App& app) {
  if (app.get_parent() == nullptr) return "";
  const std::string before = typed(*app.get_parent());
  return before.empty() ? app.get_name() : before + ' ' + app.get_name();
}

// What may stand where the arguments went wrong: verbs, or kinds of a verb.
std::vector<std::string> words_below(const CLI::App& at) {
  std::vector<std::string> out;
  for (const CLI::App* sub : at.get_subcommands([](const CLI::App*) { return true; }))
    out.push_back(sub->get_name());
  return out;
}

std::vector<std::string> options_of(const CLI::App& at) {
  std::vector<std::string> out;
  for (const CLI::Option* option : at.get_options())
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  return out;
}

// The first argument that nothing took.
std::string unexpected(const CLI::App& app, bool option) {
  for (const std::string& word : app.remaining(/*recurse=*/true))
    if (word.starts_with('-') == option && word != "--") return word;
  return "";
}

// CLI11 has error codes of its own, and says that something is required where something else was
// typed; people get our code and what they probably meant.
ExitCode usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& at = reached(app);
  const std::string where = typed(at);
  const std::string help = where.empty() ? "tiersim --help" : "tiersim " + where + " --help";
  const auto words = words_below(at);
  // `validate` does something with and without a word after it.
  const bool needs_word = where.empty() || at.get_require_subcommand_min() > 0;
  if (const std::string wrong = unexpected(app, /*option=*/true); !wrong.empty()) {
    const std::string name = wrong.substr(0, wrong.find('='));
    const std::vector<std::string> options = options_of(at);
    const std::string_view near = nearest(name, options);
    fmt::print(stderr, "tiersim: error: unknown option '{}'{}\n", printable(name),
               near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
  } else if (words.empty() || !needs_word) {
    fmt::print(stderr, "tiersim: error: {}\n", printable(error.what()));
  } else {
    const std::string given = unexpected(app, /*option=*/false);
    const std::string_view near = nearest(given, words);
    const std::string before = where.empty() ? "" : where + ' ';
    if (given.empty())
      fmt::print(stderr, "tiersim: error: what to {}?\n", where);
    else
      fmt::print(stderr, "tiersim: error: there is no '{}{}'{}\n", before, printable(given),
                 near.empty() ? "" : fmt::format("; did you mean '{}{}'?", before, near));
    fmt::print(stderr, "tiersim: {} is one of: {}\n", where.empty() ? "the verb" : "what follows",
               join(words));
  }
  fmt::print(stderr, "tiersim: `{}` says more\n", help);
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
    return usage_error(app, error);
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
  } catch (const StoreError& error) {
    fmt::print(stderr, "tiersim: error: {}\n", printable(error.what()));
    return ExitCode::usage;
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
  } catch (const std::filesystem::filesystem_error& error) {
    std::fprintf(stderr, "tiersim: internal error: %s\n", error.what());
    return static_cast<int>(ExitCode::internal);
  } catch (const std::system_error& error) {
    // From printing more than a buffer holds; whoever writes a file reports its errors.
    std::fprintf(stderr, "tiersim: error: cannot write to standard output: %s\n",
                 error.code().message().c_str());
    return static_cast<int>(ExitCode::internal);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tiersim: internal error: %s\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}
