#include <cmath>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/expression/dimension.hpp"
#include "sim/expression/expression.hpp"

namespace tiersim {
namespace {

std::string number_text(double value) {
  if (std::floor(value) == value && std::abs(value) < 9.2e18)
    return fmt::format("{}", static_cast<std::int64_t>(value));
  return fmt::format("{:.12g}", value);
}

Dimension dimension_of(const Magnitude& magnitude) {
  return Dimension::parse(magnitude.dimension).value_or(Dimension{});
}

}  // namespace

ExpressionValue expression_value(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  if (const auto number = plain_number(text)) return Magnitude{*number, ""};
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return text;
  const auto number = plain_number(text.substr(0, space));
  if (!number) return text;
  const std::string unit = text.substr(space + 1);
  if (const auto known = find_unit(unit))
    return Magnitude{known->scale(*number), known->dimension.text()};
  if (const auto dimension = Dimension::parse(unit); dimension && !dimension->plain())
    return Magnitude{*number, unit};
  return text;
}

Expected<std::string> setting_text(const ExpressionValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* truth = std::get_if<bool>(&value)) return std::string(*truth ? "true" : "false");
  const auto& magnitude = std::get<Magnitude>(value);
  if (magnitude.dimension.empty()) return number_text(magnitude.value);
  return quantity_text(magnitude.value, dimension_of(magnitude));
}

std::string label_text(const ExpressionValue& value) {
  if (auto text = setting_text(value)) return *text;
  const auto& magnitude = std::get<Magnitude>(value);
  return number_text(magnitude.value) + ' ' + magnitude.dimension;
}

std::string kind_noun(const ExpressionValue& value) {
  if (std::holds_alternative<std::string>(value)) return "text";
  if (std::holds_alternative<bool>(value)) return "a truth value";
  return dimension_of(std::get<Magnitude>(value)).noun();
}

}  // namespace tiersim
