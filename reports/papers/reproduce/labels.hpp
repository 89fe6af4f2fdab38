#pragma once
// References between parts of a targets file go by label.
#include <algorithm>
#include <string>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// Reports at `path` a label that no element of the list has; `of` gives an element's label.
template <class List, class Label>
void check_label(Fields& f, const std::string& path, const std::string& label, const List& list,
                 Label of) {
  std::vector<std::string> names;
  for (const auto& element : list) names.push_back(of(element));
  f.check(std::ranges::find(names, label) != names.end(), path, "there is no '" + label + "'",
          "there are: " + join(names));
}

}  // namespace tiersim
