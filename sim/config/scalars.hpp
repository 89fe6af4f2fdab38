#pragma once
// One scalar value to and from text, with its limits.
#include <optional>
#include <string>

#include "sim/config/limits.hpp"
#include "sim/config/tree.hpp"
#include "sim/config/value.hpp"

namespace tiersim::detail {

struct Problem {
  std::string message;
  std::string hint = {};
};

/// Parses the node into the member, which keeps its value if there is a problem.
std::optional<Problem> parse_scalar(const Node& node, const ScalarValue& member,
                                    const Limits& limits);

/// Text that parse_scalar turns into the same value.
std::string format_scalar(const ScalarValue& member);
/// Appends it.
void append_scalar(std::string& out, const ScalarValue& member);

/// True where a <= b; both have one type, a number or a quantity.
bool in_order(const ScalarValue& a, const ScalarValue& b);

/// True where JSON writes the value as a string; numbers and truth values are not strings.
bool is_text(const ScalarValue& member);

/// The member's type for messages: "a whole number", "a size", ...
std::string noun(const ScalarValue& member);

/// "B, KiB, ..." for a quantity, otherwise empty.
std::string units(const ScalarValue& member);

/// "did you mean 'x'? one of: ...", with the question only if a name is near.
std::string choice_hint(const std::string& given, const std::vector<std::string>& names);

}  // namespace tiersim::detail
