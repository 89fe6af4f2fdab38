#include "sim/config/yaml_scalar.hpp"

#include <algorithm>
#include <string_view>

#include "sim/config/json_text.hpp"

namespace tiersim::detail {
namespace {

bool is_plain(const std::string& text) {
  const auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (text.empty() || !alphanumeric(text.front()) || text.back() == ' ') return false;
  if (text == "null" || text == "Null" || text == "NULL") return false;
  return std::ranges::all_of(text, [&](char c) {
    return alphanumeric(c) || std::string_view(" _-./+%").find(c) != std::string_view::npos;
  });
}

}  // namespace

std::string yaml_scalar(const std::string& text) {
  return is_plain(text) ? text : json_string(text);
}

}  // namespace tiersim::detail
