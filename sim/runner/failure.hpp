#pragma once
// The failure of a verb: an exit code and a message for stderr. Libraries below sim/runner return
// errors; from here up, an error that ends the work is thrown.
#include <array>
#include <stdexcept>
#include <string>

namespace tiersim {

enum class ExitCode : int {
  ok = 0,
  internal = 1,
  usage = 2,
  bad_config = 3,
  points_failed = 4,
  target_missed = 5,
  interrupted = 130,
};

/// Every exit status with its meaning, for --help and the manual.
struct ExitMeaning {
  int code;
  const char* meaning;
};
inline constexpr std::array<ExitMeaning, 7> kExitCodes{{{0, "ok"},
                                                        {1, "internal error"},
                                                        {2, "usage"},
                                                        {3, "bad configuration"},
                                                        {4, "some points failed"},
                                                        {5, "a target or threshold was missed"},
                                                        {130, "interrupted"}}};

/// Ends a verb with a message for stderr.
struct Failure : std::runtime_error {
  Failure(ExitCode exit_code, const std::string& message)
      : std::runtime_error(message), code(exit_code) {}
  ExitCode code;
};

}  // namespace tiersim
