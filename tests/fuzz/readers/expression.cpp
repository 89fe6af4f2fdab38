#include "sim/expression/expression.hpp"

#include "tests/fuzz/readers/readers.hpp"

namespace tiersim::fuzz {
namespace {

// A name's first letter gives its kind, so that random names have values.
std::optional<ExpressionValue> value_of(std::string_view name) {
  switch (name.empty() ? ' ' : name.front()) {
    case 'b':
      return Magnitude{16, ""};
    case 's':
      return Magnitude{4096, "B"};
    case 't':
      return Magnitude{0.2, "s"};
    case 'm':
      return std::string("Quest");
    case 'f':
      return false;
    default:
      return std::nullopt;
  }
}

void expect_sound(const ExpressionError& error, const std::string& text) {
  promise(error.offset <= text.size(), "a place behind the text");
  promise(!error.message.empty(), "no words");
}

}  // namespace

void read_expression(std::string_view given) {
  const std::string text(given);
  label_text(expression_value(text));
  const auto parsed = Expression::parse(text);
  if (!parsed) return expect_sound(parsed.error(), text);
  const auto checked = parsed->check(value_of);
  if (!checked) expect_sound(checked.error(), text);
  const auto value = parsed->evaluate(value_of);
  if (!value) return expect_sound(value.error(), text);
  promise(!kind_noun(*value).empty(), "a value of no kind");
  // The check looks at every branch, so it may refuse what evaluates.
  promise(!checked || checked->index() == value->index(), "the check gives another kind");
  label_text(*value);
  const auto setting = setting_text(*value);
  if (!setting) promise(!setting.error().empty(), "no words");
}

}  // namespace tiersim::fuzz
