#pragma once
// Expressions of sweeps: filters, derived values, constraints.
//
//   "batch * context <= 262144 and method != 'Quest'"
//   "ttft.p99 < 200 ms"        "min(64, floor(1 MiB / row))"        "tp in [1, 2, 4]"
//
// Numbers carry the dimensions of their units (time, bytes, FLOP, energy, ... and products of
// them): to add or compare a time and a size is a mistake, found before anything runs. Operators by
// rising strength: or, and, not, comparisons and `in`, + -, * / %, unary -, **. Functions: min,
// max, abs, floor, ceil, round, sqrt, log2, log10, exp, if(condition, a, b). Text stands in quotes.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/expected.hpp"

namespace tiersim {

/// A number with its dimension, in base units (s, B, FLOP, J, USD): of "GB/s" 1e9 and B/s.
struct Magnitude {
  double value = 0;
  std::string dimension = {};  ///< canonical, "B/s"; empty for plain numbers
  bool operator==(const Magnitude&) const = default;
};
using ExpressionValue = std::variant<Magnitude, std::string, bool>;

/// A label or value of YAML as an expression sees it: a quantity, a number, a truth value, or text.
ExpressionValue expression_value(const std::string& text);

/// Where an expression is wrong.
struct ExpressionError {
  std::size_t offset = 0;  ///< of the byte, from 0
  std::string message = {};
  std::string hint = {};
};

class Expression {
 public:
  static Expected<Expression, ExpressionError> parse(const std::string& text);

  /// Names that it uses, in order, each once: axes, derived values, metrics ("ttft.p99").
  const std::vector<std::string>& names() const;

  /// What a name stands for; nothing where it has no value at this point.
  using Lookup = std::function<std::optional<ExpressionValue>(std::string_view name)>;
  /// The error is a name without value, dimensions that do not fit, division by zero, or a result
  /// that is no finite number.
  Expected<ExpressionValue, ExpressionError> evaluate(const Lookup& lookup) const;

  const std::string& text() const;

 private:
  struct Node;
  std::string text_;
  std::vector<std::string> names_;
  std::shared_ptr<const Node> root_;
};

/// As a setting or label takes it: whole numbers without a point, quantities in a unit of theirs
/// ("48 GB/s"; whole base units, as configurations take them), "true", text. The error is a
/// dimension that no setting has.
Expected<std::string> setting_text(const ExpressionValue& value);

}  // namespace tiersim
