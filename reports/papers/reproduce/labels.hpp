#pragma once
// Checks of references by label between parts of a targets file.
#include <algorithm>
#include <string>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// Reports an error at `path` where no element of the list has the label; `of` gives the label of
/// an element.
template <class List, class Label>
void check_label(Fields& f, const std::string& path, const std::string& label, const List& list,
                 Label of) {
  std::vector<std::string> names;
  for (const auto& element : list) names.push_back(of(element));
  f.check(std::ranges::find(names, label) != names.end(), path, "there is no '" + label + "'",
          "there are: " + join(names));
}

}  // namespace tiersim
