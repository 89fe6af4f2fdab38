#pragma once
// A plain tree as JSON.
#include <string>
#include <string_view>

#include "sim/config/plain_tree.hpp"

namespace tiersim::detail {

/// One line without spaces, no newline at its end.
std::string to_json_line(const PlainTree& tree);
/// The text in double quotes, escaped so that JSON and YAML both read it.
std::string json_string(std::string_view text);
void append_json_string(std::string& out, std::string_view text);

}  // namespace tiersim::detail
