#pragma once
// What every verb shares: exit codes, and how a verb hooks into the command line. One
// cmd_<verb>.cpp a verb; cmd_list.hpp names them all, in the order of `tiersim --help`.
#include <functional>
#include <stdexcept>
#include <string>

namespace CLI {
class App;
}

namespace tiersim::cli {

enum class ExitCode : int {
  ok = 0,
  internal = 1,
  usage = 2,
  bad_config = 3,
  points_failed = 4,
  target_missed = 5,
  interrupted = 130,
};

/// Ends a verb with a message for stderr. Only the command line throws; libraries return errors.
struct Failure : std::runtime_error {
  Failure(ExitCode exit_code, const std::string& message)
      : std::runtime_error(message), code(exit_code) {}
  ExitCode code;
};

/// Type name of options that take a setting and no file, for --help and completions.
inline constexpr const char* kSettingType = "A.B=VALUE";

/// Set by the verb that the arguments chose; run after parsing.
using Action = std::function<ExitCode()>;

void add_run(CLI::App& app, Action& action);
void add_reproduce(CLI::App& app, Action& action);
void add_sweep(CLI::App& app, Action& action);
void add_merge(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_solve(CLI::App& app, Action& action);
void add_calibrate(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_validate(CLI::App& app, Action& action);
void add_numerics(CLI::App& app, Action& action);
void add_config(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_rerun(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);

}  // namespace tiersim::cli
