#pragma once
// JSON laid out for people.
#include <string>
#include <string_view>

namespace tiersim {

/// Lines of 100 columns from JSON on one line, without spaces between its parts. An object or a
/// list that fits on a line stands on one. In any other each entry has a line of its own, two
/// spaces a level; a list of plain values fills its lines. Every number and text keeps its
/// characters. Ends in a newline.
std::string pretty_json(std::string_view line);

}  // namespace tiersim
