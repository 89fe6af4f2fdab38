#pragma once
// The shipped files that a new user can start from.
#include <string>
#include <vector>

namespace tiersim {

struct Example {
  std::string kind;         ///< scenario, serving or sweep
  std::string file;         ///< below config_root(), as `command` names it
  std::string description;  ///< in the words of the file
  std::string command;      ///< "tiersim run scenarios/..."
};

/// From one step to servers to design spaces. Throws Failure where a file is missing or has
/// mistakes.
std::vector<Example> examples();

}  // namespace tiersim
