#pragma once
// Expressions of sweeps: filters, derived values, constraints.
//
//   "batch * context <= 262144 and method != 'Quest'"
//   "ttft.p99 < 200 ms"        "min(64, floor(1 MiB / row))"        "tp in [1, 2, 4]"
//
// Numbers carry the dimensions of their units (time, bytes, FLOP, energy, ... and products of
// them). Adding or comparing a time and a size is a mistake, found before anything runs. Counts
// have no dimension, so `throughput > 1000 tokens/s` equals `throughput > 1000`. Operators by
// rising precedence: or, and, not, comparisons and `in`, + -, * / %, unary -, **. Functions: min,
// max, abs, floor, ceil, round, sqrt, log2, log10, exp, if(condition, a, b),
// part('9/64/8', '/', 2), which is the number 64, or 0 where nothing stands there, and
// after('cfg=3; users=16; x', 'users='), which is the number 16, or 0 without the mark. Text
// stands in quotes.
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

/// A number with its dimension, in base units (s, B, FLOP, J, USD): "1 GB/s" is 1e9 and B/s.
struct Magnitude {
  double value = 0;
  std::string dimension = {};  ///< canonical, "B/s"; empty for plain numbers
  bool operator==(const Magnitude&) const = default;
};
using ExpressionValue = std::variant<Magnitude, std::string, bool>;

/// The value in expressions of a label or YAML value: a quantity ("48 GB/s", or the text of
/// setting_text() and label_text()), a number, a truth value, or text.
ExpressionValue expression_value(const std::string& text);

/// A mistake in an expression, with its place.
struct ExpressionError {
  std::size_t offset = 0;  ///< byte offset, from 0
  std::string message = {};
  std::string hint = {};
};

struct ExpressionNode;  // expression_tree.hpp

class Expression {
 public:
  /// The error is a violation of the grammar, or an unknown function or unit.
  static Expected<Expression, ExpressionError> parse(const std::string& text);

  /// Names in the expression, in order, each once: axes, derived values, metrics ("ttft.p99").
  const std::vector<std::string>& names() const;

  /// The offset of the name's first use.
  std::size_t offset_of(std::string_view name) const;

  /// The value of a name; nothing if it has no value at this point.
  using Lookup = std::function<std::optional<ExpressionValue>(std::string_view name)>;
  /// The error is a name without a value, dimensions that do not match, division by zero, or a
  /// result that is not a finite number.
  Expected<ExpressionValue, ExpressionError> evaluate(const Lookup& lookup) const;
  /// Finds the mistakes that do not depend on numbers: evaluates every branch, and division by zero
  /// is no error. The value has the kind and dimension of the result.
  Expected<ExpressionValue, ExpressionError> check(const Lookup& lookup) const;

  const std::string& text() const;

 private:
  std::string text_;
  std::vector<std::string> names_;
  std::shared_ptr<const ExpressionNode> root_;
};

/// The value as a setting or label: whole numbers without a point, quantities in a fitting unit
/// ("48 GB/s"; whole base units, as configurations take them), "true", text. The error is a
/// dimension without settings.
Expected<std::string> setting_text(const ExpressionValue& value);
/// The same for people and columns, where a number may have any dimension ("295.5 FLOP/B") and
/// sign. Numbers have at most twelve significant digits.
std::string label_text(const ExpressionValue& value);
/// "a size", "a plain number", "text", "a truth value"; for messages.
std::string kind_noun(const ExpressionValue& value);

}  // namespace tiersim
