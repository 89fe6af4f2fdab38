// Evaluation of expression trees. Every operator checks kinds and dimensions, so that evaluation
// and check share the code; a check also evaluates every branch and ignores faults of numbers.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/expression/expression_tree.hpp"

namespace tiersim {
namespace {

enum class Kind : std::uint8_t { number, text, truth };

struct Value {
  Kind kind = Kind::number;
  double number = 0;  // 1 or 0 for a truth value
  Dimension dimension = {};
  std::string text = {};

  bool truth() const { return number != 0; }
  std::string noun() const {
    if (kind == Kind::text) return "text";
    return kind == Kind::truth ? "a truth value" : dimension.noun();
  }
};

Value number_value(double number, Dimension dimension = {}) {
  return {.number = number, .dimension = dimension};
}
Value truth_value(bool truth) {
  return {.kind = Kind::truth, .number = truth ? 1.0 : 0.0};
}

Value to_value(ExpressionValue&& given, const ExpressionNode& node) {
  if (const auto* magnitude = std::get_if<Magnitude>(&given)) {
    const auto dimension = Dimension::parse(magnitude->dimension);
    TS_EXPECTS(dimension.has_value(), node.word, magnitude->dimension);
    return number_value(magnitude->value, *dimension);
  }
  if (auto* text = std::get_if<std::string>(&given))
    return {.kind = Kind::text, .text = std::move(*text)};
  return truth_value(std::get<bool>(given));
}

class Evaluator {
 public:
  Evaluator(const Expression::Lookup& lookup, bool every_branch)
      : lookup_(lookup), every_branch_(every_branch) {}

  Value run(const ExpressionNode& node) const {
    switch (node.operation) {
      case Operation::number:
        return number_value(node.number, node.dimension);
      case Operation::text:
        return {.kind = Kind::text, .text = node.word};
      case Operation::truth:
        return truth_value(node.number != 0);
      case Operation::name:
        return look_up(node);
      case Operation::or_:
      case Operation::and_:
        return connect(node);
      case Operation::not_:
        return truth_value(!truth_of(node.children[0], "'not'").truth());
      case Operation::equal:
      case Operation::unequal:
      case Operation::less:
      case Operation::less_equal:
      case Operation::greater:
      case Operation::greater_equal:
        return compare(node);
      case Operation::in_:
        return contains(node);
      case Operation::if_:
        return choose(node);
      case Operation::part_:
        return part_of(node);
      case Operation::after_:
        return after(node);
      case Operation::add:
      case Operation::subtract:
      case Operation::multiply:
      case Operation::divide:
      case Operation::remainder:
      case Operation::power:
        return combine(node);
      default:
        return apply(node);
    }
  }

 private:
  [[noreturn]] static void fail(const ExpressionNode& at, std::string message,
                                std::string hint = {}) {
    throw ExpressionError{at.offset, std::move(message), std::move(hint)};
  }

  Value look_up(const ExpressionNode& node) const {
    auto found = lookup_(node.word);
    if (!found) fail(node, fmt::format("'{}' has no value here", node.word));
    return to_value(std::move(*found), node);
  }

  Value truth_of(const ExpressionNode& node, const char* whose) const {
    Value value = run(node);
    if (value.kind != Kind::truth)
      fail(node, fmt::format("{} needs a truth value, not {}", whose, value.noun()),
           "compare it with something");
    return value;
  }
  Value number_of(const ExpressionNode& node, std::string_view whose) const {
    Value value = run(node);
    if (value.kind != Kind::number)
      fail(node, fmt::format("{} needs a number, not {}", whose, value.noun()));
    return value;
  }

  std::string text_of(const ExpressionNode& node, std::string_view whose) const {
    Value value = run(node);
    if (value.kind != Kind::text)
      fail(node, fmt::format("{} needs text, not {}", whose, value.noun()));
    return std::move(value.text);
  }

  // The number between two separators of a text, counted from 1; 0 where nothing stands there.
  Value part_of(const ExpressionNode& node) const {
    const std::string text = text_of(node.children[0], node.word);
    const std::string separator = text_of(node.children[1], node.word);
    const Value place = number_of(node.children[2], node.word);
    if (separator.empty()) fail(node.children[1], "nothing separates no parts", "such as '/'");
    if (!place.dimension.plain() || !(place.number >= 1) ||
        place.number != std::floor(place.number))
      fail(node.children[2], "parts are counted by whole numbers from 1");
    std::string_view rest = text;
    for (double left = place.number; left > 1; --left) {
      const std::size_t end = rest.find(separator);
      if (end == std::string_view::npos) return number_value(0);
      rest.remove_prefix(end + separator.size());
    }
    const std::string_view part = rest.substr(0, rest.find(separator));
    if (part.empty() || every_branch_) return number_value(0);
    double number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size() || !std::isfinite(number))
      fail(node.children[0], fmt::format("part {} of '{}' is not a number", place.number, text));
    return number_value(number);
  }

  // The number that stands right behind a mark in a text; 0 where there is no such mark.
  Value after(const ExpressionNode& node) const {
    const std::string text = text_of(node.children[0], node.word);
    const std::string mark = text_of(node.children[1], node.word);
    if (mark.empty()) fail(node.children[1], "no mark to look for", "such as 'users='");
    const std::size_t at = text.find(mark);
    if (at == std::string::npos || every_branch_) return number_value(0);
    double number = 0;
    const char* begin = text.data() + at + mark.size();
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
    if (error != std::errc() || !std::isfinite(number))
      fail(node.children[0], fmt::format("no number stands behind '{}' in '{}'", mark, text));
    return number_value(number);
  }

  Value connect(const ExpressionNode& node) const {
    const bool is_or = node.operation == Operation::or_;
    const char* whose = is_or ? "'or'" : "'and'";
    const bool left = truth_of(node.children[0], whose).truth();
    if (left == is_or && !every_branch_) return truth_value(is_or);
    const bool right = truth_of(node.children[1], whose).truth();
    return truth_value(is_or ? left || right : left && right);
  }

  // Requires one kind and dimension; throws the mistake otherwise.
  static void expect_alike(const Value& a, const Value& b, const ExpressionNode& at,
                           const char* verb) {
    if (a.kind == b.kind && a.dimension == b.dimension) return;
    const bool unitless = a.kind == Kind::number && b.kind == Kind::number &&
                          (a.dimension.plain() || b.dimension.plain());
    fail(at, fmt::format("cannot {} {} and {}", verb, a.noun(), b.noun()),
         unitless ? "give the number a unit" : "");
  }

  Value compare(const ExpressionNode& node) const {
    const Value a = run(node.children[0]);
    const Value b = run(node.children[1]);
    expect_alike(a, b, node, "compare");
    if (node.operation == Operation::equal) return truth_value(same(a, b));
    if (node.operation == Operation::unequal) return truth_value(!same(a, b));
    if (a.kind != Kind::number) fail(node, fmt::format("{} has no order", a.noun()), "== or !=");
    switch (node.operation) {
      case Operation::less:
        return truth_value(a.number < b.number);
      case Operation::less_equal:
        return truth_value(a.number <= b.number);
      case Operation::greater:
        return truth_value(a.number > b.number);
      default:
        return truth_value(a.number >= b.number);
    }
  }
  static bool same(const Value& a, const Value& b) {
    return a.kind == Kind::text ? a.text == b.text : a.number == b.number;
  }

  Value contains(const ExpressionNode& node) const {
    const Value sought = run(node.children[0]);
    bool found = false;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      const Value item = run(node.children[i]);
      expect_alike(sought, item, node.children[i], "compare");
      found = found || same(sought, item);
    }
    return truth_value(found);
  }

  Value choose(const ExpressionNode& node) const {
    const bool first = truth_of(node.children[0], "'if'").truth();
    if (!every_branch_) return run(node.children[first ? 1 : 2]);
    Value yes = run(node.children[1]);
    Value no = run(node.children[2]);
    expect_alike(yes, no, node, "choose between");
    return first ? yes : no;
  }

  Value finite(Value value, const ExpressionNode& node) const {
    if (!every_branch_ && !std::isfinite(value.number))
      fail(node, "the result is no finite number");
    return value;
  }

  Value with(double number, const std::optional<Dimension>& dimension,
             const ExpressionNode& node) const {
    if (!dimension) fail(node, "a dimension beyond what can be counted");
    return finite(number_value(number, *dimension), node);
  }

  Value combine(const ExpressionNode& node) const {
    const Value a = number_of(node.children[0], "arithmetic");
    const Value b = number_of(node.children[1], "arithmetic");
    switch (node.operation) {
      case Operation::add:
        expect_alike(a, b, node, "add");
        return with(a.number + b.number, a.dimension, node);
      case Operation::subtract:
        expect_alike(a, b, node, "subtract");
        return with(a.number - b.number, a.dimension, node);
      case Operation::multiply:
        return with(a.number * b.number, product(a.dimension, b.dimension), node);
      case Operation::divide:
        expect_divisor(b, node);
        return with(a.number / b.number, quotient(a.dimension, b.dimension), node);
      case Operation::remainder:
        expect_alike(a, b, node, "divide with remainder");
        expect_divisor(b, node);
        return with(a.number - b.number * std::floor(a.number / b.number), a.dimension, node);
      default:
        return raise(a, b, node);
    }
  }
  void expect_divisor(const Value& b, const ExpressionNode& node) const {
    if (b.number == 0 && !every_branch_) fail(node, "division by zero");
  }

  Value raise(const Value& a, const Value& b, const ExpressionNode& node) const {
    if (!b.dimension.plain())
      fail(node, fmt::format("an exponent cannot be {}", b.dimension.noun()));
    const bool whole = std::floor(b.number) == b.number && std::abs(b.number) <= 64;
    if (!a.dimension.plain() && !whole)
      fail(node, fmt::format("the exponent of {} must be a whole number", a.noun()));
    if (whole) {
      // By repeated squaring, which is exact wherever the result is.
      double result = 1;
      double factor = a.number;
      for (auto left = static_cast<int>(std::abs(b.number)); left > 0; left /= 2) {
        if (left % 2 == 1) result *= factor;
        factor *= factor;
      }
      return with(b.number < 0 ? 1 / result : result,
                  power(a.dimension, static_cast<int>(b.number)), node);
    }
    if (a.number < 0 || (a.number == 0 && b.number < 0)) return not_real(node);
    if (a.number == 0) return number_value(0);
    const double logarithm = b.number * logarithm_of(a.number);
    return finite(number_value(exponential(logarithm)), node);
  }

  Value not_real(const ExpressionNode& node) const {
    return finite(number_value(std::numeric_limits<double>::quiet_NaN()), node);
  }
  // NaN for arguments without a logarithm, which only a check passes.
  static double logarithm_of(double x) {
    return x > 0 && std::isnormal(x) ? portable_log(x) : std::numeric_limits<double>::quiet_NaN();
  }
  static double exponential(double x) {
    return std::abs(x) <= 700 ? portable_exp(x)
                              : (x < 0 ? 0 : std::numeric_limits<double>::infinity());
  }

  Value apply(const ExpressionNode& node) const {
    const std::string function = node.operation == Operation::negate ? "'-'" : node.word;
    Value a = number_of(node.children[0], function);
    switch (node.operation) {
      case Operation::negate:
        a.number = -a.number;
        return a;
      case Operation::abs_:
        a.number = std::abs(a.number);
        return a;
      case Operation::sqrt_: {
        const auto root = square_root(a.dimension);
        if (!root) fail(node, fmt::format("the square root of {} has no unit", a.noun()));
        return with(std::sqrt(a.number), root, node);
      }
      case Operation::min_:
      case Operation::max_:
        return extreme(node, std::move(a));
      default:
        return of_plain(node, a);
    }
  }

  Value extreme(const ExpressionNode& node, Value best) const {
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      const Value next = number_of(node.children[i], node.word);
      expect_alike(best, next, node.children[i], "compare");
      best.number = node.operation == Operation::min_ ? std::min(best.number, next.number)
                                                      : std::max(best.number, next.number);
    }
    return best;
  }

  Value of_plain(const ExpressionNode& node, const Value& a) const {
    if (!a.dimension.plain())
      fail(node, fmt::format("{} needs a plain number, not {}", node.word, a.noun()),
           "divide by a unit: x / 1 GB");
    const double x = a.number;
    const double y = node.operation == Operation::floor_   ? std::floor(x)
                     : node.operation == Operation::ceil_  ? std::ceil(x)
                     : node.operation == Operation::round_ ? std::round(x)
                     : node.operation == Operation::log2_  ? binary_logarithm(x)
                     : node.operation == Operation::log10_ ? logarithm_of(x) / logarithm_of(10)
                                                           : exponential(x);
    return finite(number_value(y), node);
  }
  // Exact for powers of two, independent of the logarithm's rounding.
  static double binary_logarithm(double x) {
    int exponent = 0;
    const double mantissa = std::frexp(x, &exponent);
    if (mantissa == 0.5) return exponent - 1;
    return logarithm_of(x) / logarithm_of(2);
  }

  const Expression::Lookup& lookup_;
  bool every_branch_;
};

Expected<ExpressionValue, ExpressionError> evaluated(const ExpressionNode& root,
                                                     const Expression::Lookup& lookup,
                                                     bool every_branch) {
  try {
    Value value = Evaluator(lookup, every_branch).run(root);
    if (value.kind == Kind::text) return ExpressionValue(std::move(value.text));
    if (value.kind == Kind::truth) return ExpressionValue(value.truth());
    return ExpressionValue(Magnitude{value.number, value.dimension.text()});
  } catch (const ExpressionError& error) {
    return Unexpected(error);
  }
}

}  // namespace

Expected<ExpressionValue, ExpressionError> Expression::evaluate(const Lookup& lookup) const {
  return evaluated(*root_, lookup, false);
}
Expected<ExpressionValue, ExpressionError> Expression::check(const Lookup& lookup) const {
  return evaluated(*root_, lookup, true);
}

}  // namespace tiersim
