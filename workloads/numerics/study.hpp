#pragma once
// What a numerical study found, free of any matrix type: tables, curves and statements that hold or
// do not. The command line prints them.
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tiersim::numerics {

using Cell = std::variant<std::string, std::int64_t, double>;

/// One header and rows of as many cells. `id` is a file name without extension.
struct Table {
  std::string id;
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes = {};
};

/// Points of one line over the values of `x`; drawn over each other where they share an id.
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

/// What a paper or theory states, and whether these numbers show it.
struct Statement {
  std::string id;      ///< "tpla.proposition_1"
  std::string says;    ///< in words
  std::string source;  ///< paper and section
  std::string found;   ///< the figures behind the verdict
  bool exact = false;  ///< to rounding, rather than in shape
  bool holds = false;
};

struct Study {
  std::string name;
  std::vector<Table> tables;
  std::vector<Curve> curves;
  std::vector<Statement> statements;
};

}  // namespace tiersim::numerics
