#pragma once
// Expressions of sweeps: filters, derived values, constraints.
//
//   "batch * context <= 262144 and method != 'Quest'"
//   "ttft.p99 < 200 ms"        "min(64, floor(1 MiB / row))"        "tp in [1, 2, 4]"
//
// Numbers carry the dimensions of their units (time, bytes, FLOP, energy, ... and products of
// them): to add or compare a time and a size is a mistake, found before anything runs. What is only
// counted has none, so `throughput > 1000 tokens/s` and `throughput > 1000` are one. Operators by
// rising strength: or, and, not, comparisons and `in`, + -, * / %, unary -, **. Functions: min,
// max, abs, floor, ceil, round, sqrt, log2, log10, exp, if(condition, a, b). Text stands in quotes.
// Numbers are doubles; x % y has the sign of y, and 2 ** 3 ** 2 is 2 ** 9.
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

/// A label or value of YAML as an expression sees it: a quantity ("48 GB/s", and what
/// setting_text() and label_text() write), a number, a truth value, or text.
ExpressionValue expression_value(const std::string& text);

/// Where an expression is wrong.
struct ExpressionError {
  std::size_t offset = 0;  ///< of the byte, from 0
  std::string message = {};
  std::string hint = {};
};

struct ExpressionNode;  // expression_tree.hpp

class Expression {
 public:
  /// The error is what the grammar does not have, a function or unit that there is not.
  static Expected<Expression, ExpressionError> parse(const std::string& text);

  /// Names that it uses, in order, each once: axes, derived values, metrics ("ttft.p99").
  const std::vector<std::string>& names() const;

  /// Where the name is used first.
  std::size_t offset_of(std::string_view name) const;

  /// What a name stands for; nothing where it has no value at this point.
  using Lookup = std::function<std::optional<ExpressionValue>(std::string_view name)>;
  /// The error is a name without value, dimensions that do not fit, division by zero, or a result
  /// that is no finite number.
  Expected<ExpressionValue, ExpressionError> evaluate(const Lookup& lookup) const;
  /// The same for what is wrong whatever the numbers are: every branch is evaluated, and to divide
  /// by zero is no error. The value says kind and dimension of the result.
  Expected<ExpressionValue, ExpressionError> check(const Lookup& lookup) const;

  const std::string& text() const;

 private:
  std::string text_;
  std::vector<std::string> names_;
  std::shared_ptr<const ExpressionNode> root_;
};

/// As a setting or label takes it: whole numbers without a point, quantities in a unit of theirs
/// ("48 GB/s"; whole base units, as configurations take them), "true", text. The error is a
/// dimension that no setting has.
Expected<std::string> setting_text(const ExpressionValue& value);
/// The same for people and columns, which may have any dimension ("295.5 FLOP/B"), and may be
/// negative. Numbers have at most twelve significant digits.
std::string label_text(const ExpressionValue& value);
/// "a size", "a plain number", "text", "a truth value"; for messages.
std::string kind_noun(const ExpressionValue& value);

}  // namespace tiersim
