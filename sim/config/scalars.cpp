#include "sim/config/scalars.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>
#include <type_traits>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"

namespace tiersim::detail {
namespace {

template <class T>
inline constexpr bool kIsQuantity = !std::is_arithmetic_v<T> && !std::is_same_v<T, std::string>;

template <class T>
std::int64_t in_base(T quantity) {
  if constexpr (std::is_same_v<T, Duration>)
    return quantity.count();
  else
    return quantity.in_base();
}

// Sign of value - limit. A limit of another dimension is a fault of the describe() that states it.
template <class T, class Limit>
int compare_with(T value, Limit limit) {
  const auto sign = [](auto a, auto b) { return a < b ? -1 : a > b ? 1 : 0; };
  if constexpr (std::is_same_v<T, Limit>) {
    return sign(value, limit);
  } else if constexpr (std::is_arithmetic_v<T> && std::is_arithmetic_v<Limit>) {
    return sign(static_cast<double>(value), static_cast<double>(limit));
  } else if constexpr (kIsQuantity<T> && std::is_same_v<Limit, std::int64_t>) {
    TS_EXPECTS(limit == 0, limit);  // positive(); any other limit has a unit
    return sign(in_base(value), limit);
  } else {
    constexpr bool kSameDimension = false;
    TS_EXPECTS(kSameDimension);
    return 0;
  }
}

template <class T>
int compare(T value, const Number& limit) {
  return std::visit([value](auto of_kind) { return compare_with(value, of_kind); }, limit);
}

template <class T>
bool inside(const T& value, const Limits& limits, std::string_view text) {
  if (!limits.allowed.empty())
    return std::ranges::find(limits.allowed, text) != limits.allowed.end();
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
    TS_EXPECTS(!limits.low && !limits.high);
  } else {
    if (limits.low && compare(value, *limits.low) < (limits.low_open ? 1 : 0)) return false;
    if (limits.high && compare(value, *limits.high) > 0) return false;
  }
  return true;
}

template <class T>
std::string noun_of() {
  if constexpr (std::is_same_v<T, bool>)
    return "true or false";
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return "a whole number";
  else if constexpr (std::is_same_v<T, double>)
    return "a number";
  else if constexpr (std::is_same_v<T, std::string>)
    return "text";
  else
    return dimension_noun<T>();
}

Problem wrong_type(const Node& node, const std::string& expected) {
  return {fmt::format("expected {}, found {}", expected, node.what())};
}

template <class T>
std::optional<T> from_text(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end) return std::nullopt;
  if constexpr (std::is_same_v<T, double>)
    if (!std::isfinite(value)) return std::nullopt;
  return value;
}

// True for text such as -123, which is out of range if from_text() refuses it.
bool is_whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The value, or the problem with its text.
template <class T>
Expected<T, Problem> parse(const Node& node) {
  const std::string& text = node.scalar;
  if constexpr (std::is_same_v<T, std::string>) {
    return text;
  } else if constexpr (kIsQuantity<T>) {
    const auto value = parse_quantity<T>(text);
    if (!value) return Unexpected(Problem{value.error()});
    return *value;
  } else {
    if (node.quoted)
      return Unexpected(Problem{fmt::format("expected {}, found text '{}'", noun_of<T>(), text),
                                "without quotes"});
    if constexpr (std::is_same_v<T, bool>) {
      if (text == "true" || text == "false") return text == "true";
    } else {
      if (const auto value = from_text<T>(text)) return *value;
      if (is_whole(text)) return Unexpected(Problem{fmt::format("'{}' is too large", text)});
    }
    return Unexpected(wrong_type(node, noun_of<T>()));
  }
}

template <class T>
Problem outside(const std::string& text, const Limits& limits) {
  if (limits.allowed.empty())
    return {fmt::format("'{}' is out of range", text), "allowed: " + limits.text()};
  // Numbers are not misspelt, so they get no suggestion.
  return {fmt::format("unknown value '{}'", text), std::is_same_v<T, std::string>
                                                       ? choice_hint(text, limits.allowed)
                                                       : "one of: " + join(limits.allowed)};
}

}  // namespace

std::optional<Problem> parse_scalar(const Node& node, const ScalarValue& member,
                                    const Limits& limits) {
  return std::visit(
      [&]<class T>(T* target) -> std::optional<Problem> {
        if (node.kind != NodeKind::scalar) return wrong_type(node, noun_of<T>());
        const auto value = parse<T>(node);
        if (!value) return value.error();
        if (!inside(*value, limits, node.scalar)) return outside<T>(node.scalar, limits);
        *target = *value;
        return std::nullopt;
      },
      member);
}

std::string format_scalar(const ScalarValue& member) {
  std::string out;
  append_scalar(out, member);
  return out;
}

void append_scalar(std::string& out, const ScalarValue& member) {
  std::visit(
      [&out]<class T>(const T* value) {
        if constexpr (std::is_same_v<T, double>) TS_EXPECTS(std::isfinite(*value), *value);
        if constexpr (kIsQuantity<T>)
          append_quantity(out, *value);
        else if constexpr (std::is_same_v<T, std::string>)
          out += *value;
        else
          fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), *value);
      },
      member);
}

bool in_order(const ScalarValue& a, const ScalarValue& b) {
  return std::visit(
      [&b]<class T>(const T* low) {
        const T* const* high = std::get_if<T*>(&b);
        TS_EXPECTS(high != nullptr);
        return *low <= **high;
      },
      a);
}

bool is_text(const ScalarValue& member) {
  return std::visit([]<class T>(const T*) { return !std::is_arithmetic_v<T>; }, member);
}

std::string noun(const ScalarValue& member) {
  return std::visit([]<class T>(const T*) { return noun_of<T>(); }, member);
}

std::string units(const ScalarValue& member) {
  return std::visit(
      []<class T>(const T*) -> std::string {
        if constexpr (kIsQuantity<T>)
          return unit_list<T>();
        else
          return "";
      },
      member);
}

std::string choice_hint(const std::string& given, const std::vector<std::string>& names) {
  const std::string_view near = nearest(given, names);
  const std::string all = "one of: " + join(names);
  return near.empty() ? all : fmt::format("did you mean '{}'? {}", near, all);
}

}  // namespace tiersim::detail
