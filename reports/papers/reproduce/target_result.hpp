#pragma once
// What came of one thing that a paper states.
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

/// The comparison holds: `pass`, `rule` with the rule's value met, or `shape`.
bool holds(const TargetResult& result);

}  // namespace tiersim
