#pragma once
// A table of cells as JSON.
#include <span>
#include <string>
#include <string_view>

#include "sim/base/table.hpp"

namespace tiersim {

/// A list of rows, each an object of its cells by the keys of their columns, in the order of
/// `keys`, or of the columns where that is empty. Numbers that are not finite are null. On one
/// line, or with so many blanks before what is inside of another.
std::string to_json(const Table& table, std::span<const std::string_view> keys = {},
                    int indent = -1);

}  // namespace tiersim
