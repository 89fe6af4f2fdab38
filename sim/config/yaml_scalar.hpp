#pragma once
// Text as a YAML scalar.
#include <string>

namespace tiersim::detail {

/// The text itself where it reads back as such, in a list too; else in double quotes.
std::string yaml_scalar(const std::string& text);

}  // namespace tiersim::detail
