#pragma once
// The results of a numerical study without matrix types: tables, curves, and statements with their
// verdicts. The command line prints them.
#include <string>
#include <vector>

#include "sim/base/table.hpp"

namespace tiersim::numerics {

/// Points of one line over the values of `x`; all lines of a curve share a plot.
struct Line {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
};
struct Curve {
  std::string id;
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Line> lines;
};

/// A statement of a paper or of theory, with the verdict of these numbers.
struct Statement {
  std::string id;      ///< "tpla.proposition_1"
  std::string says;    ///< in words
  std::string source;  ///< paper and section
  std::string found;   ///< the figures behind the verdict
  bool exact = false;  ///< true: holds to rounding; false: holds in shape
  bool holds = false;
};

struct Study {
  std::string name;
  std::vector<Table> tables;
  std::vector<Curve> curves;
  std::vector<Statement> statements;
};

}  // namespace tiersim::numerics
