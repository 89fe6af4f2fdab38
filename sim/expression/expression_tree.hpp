#pragma once
// The tree between the parser of expressions and their evaluation. Internal to sim/sweep.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/expression/dimension.hpp"
#include "sim/expression/expression.hpp"

namespace tiersim {

// Names of keywords and of functions of the library end with an underscore.
// NOLINTBEGIN(readability-identifier-naming)
enum class Operation : std::uint8_t {
  number,
  text,
  truth,
  name,
  or_,
  and_,
  not_,
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal,
  in_,
  add,
  subtract,
  multiply,
  divide,
  remainder,
  negate,
  power,
  min_,
  max_,
  abs_,
  floor_,
  ceil_,
  round_,
  sqrt_,
  log2_,
  log10_,
  exp_,
  part_,
  after_,
  if_,
};
// NOLINTEND(readability-identifier-naming)

struct ExpressionNode {
  Operation operation = Operation::number;
  std::size_t offset = 0;  // in the text: of the operator, literal or name
  double number = 0;       // in base units; 1 or 0 for a truth value
  Dimension dimension = {};
  std::string word = {};                      // text, or the name of a name or function
  std::vector<ExpressionNode> children = {};  // of `in`: the searched value, then the list
};

/// A function such as "min"; find_function() gives nullptr for an unknown name.
struct ExpressionFunction {
  const char* name;
  Operation operation;
  std::size_t least;  ///< number of arguments
  std::size_t most;
};
const ExpressionFunction* find_function(std::string_view name);

}  // namespace tiersim
