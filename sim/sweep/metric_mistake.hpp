#pragma once
// An error of resolve_metric() as the message and the hint of a diagnostic.
#include <string>
#include <utility>

namespace tiersim {

/// Splits the brackets at the end of the error off as the hint.
inline std::pair<std::string, std::string> metric_mistake(const std::string& error) {
  const std::size_t bracket = error.rfind(" (");
  if (bracket == std::string::npos || !error.ends_with(')')) return {error, ""};
  return {error.substr(0, bracket), error.substr(bracket + 2, error.size() - bracket - 3)};
}

}  // namespace tiersim
