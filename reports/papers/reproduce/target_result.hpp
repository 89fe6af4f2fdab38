#pragma once
// The result of one value that a paper states.
#include <string>

namespace tiersim {

/// One compared cell, with the names of `reproduce --json`.
struct TargetResult {
  std::string id;
  std::string reading;
  double paper = 0;
  double simulated = 0;
  std::string unit;
  double tolerance = 0;  ///< half of the last printed digit
  std::string status;  ///< "pass", "fail", "rule", "shape" for what a figure shows; "explained" or
                       ///< "unexplained" for what the paper leaves open, which nothing is held to
  std::string why;
};

/// True for `pass`, for `rule` where the rule's value is met, and for `shape`.
bool holds(const TargetResult& result);

}  // namespace tiersim
