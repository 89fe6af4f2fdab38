#pragma once
// Lists of device models, shipped files, methods and metrics. `tiersim list` prints them, and the
// Python module returns them.
#include <string>
#include <vector>

#include "sim/base/table.hpp"

namespace tiersim {

struct ListKind {
  const char* name;
  const char* help;
};
std::vector<ListKind> list_kinds();

struct Listing {
  Table table;
  std::string json;  ///< an array of objects, numbers in base units, ending in a newline
};

/// Throws Failure (usage) if there is no such list, or if a shipped file has mistakes.
Listing listing_of(const std::string& what);

}  // namespace tiersim
