#pragma once
// JSON laid out for people.
#include <cstddef>
#include <string>
#include <string_view>

namespace tiersim {

/// Lines from JSON on one line, without spaces between its parts. An object or a list that fits
/// into the columns stands on one line. In any other, two spaces a level further in, plain values
/// fill lines, and an object or a list begins a line of its own. Every number and text keeps its
/// characters. Ends in a newline.
std::string pretty_json(std::string_view line, std::size_t columns = 120);

}  // namespace tiersim
