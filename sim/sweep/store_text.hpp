#pragma once
// The text of a store's rows. Points and results repeat each other: all points of a grid have the
// same file and the same keys, and all results of a sweep the same names, units and classes. Such
// parts stand in the store once; a row has the number of its part, and what differs.
//
//   labels    ["8192","MAPLE"]                      [8192,"MAPLE"], as the sweep's columns
//   settings  ["step.context=8192","step.batch=4"]  [["step.context=",0],"step.batch=4"], where 0
//                                                   stands for the label of column 0
//   results   {"a":{"value":2.5,"unit":"s"}}        {"a":{"value":0,"unit":"s"}} and [2.5]
#include <string>
#include <string_view>
#include <vector>

#include "sim/sweep/design_space.hpp"

namespace tiersim {

/// One JSON value a column: a number where that reads back as the same text, null for "".
std::string labels_row(const std::vector<std::string>& labels);
/// The inverse. Throws std::runtime_error if the text is none of labels_row().
std::vector<std::string> labels_of(std::string_view row);

/// The settings of a point, with a column instead of a value that is its label.
std::string settings_form(const std::vector<SpaceColumn>& columns, const SpacePoint& point);

/// settings_form() read, for the points that share it.
class SettingsForm {
 public:
  /// Throws std::exception if the text is no form.
  explicit SettingsForm(const std::string& text);
  /// The settings of a point. Throws std::exception if it has no such labels.
  std::vector<std::string> of(const std::vector<std::string>& labels) const;

 private:
  struct Setting {
    std::string text = {};  // the whole setting, or its key and '='
    int column = -1;        // of the value
  };
  std::vector<Setting> settings_;
};

/// JSON whose numbers are replaced by their indices, and the list of these numbers.
struct SplitNumbers {
  std::string shape = {};
  std::string numbers = {};
};
SplitNumbers split_numbers(std::string_view json);
/// The JSON of split_numbers(). Throws std::runtime_error if the two do not belong together.
std::string join_numbers(std::string_view shape, std::string_view numbers);

/// A run id as 32 bytes, and back.
std::string id_bytes(std::string_view hex);
std::string id_text(std::string_view bytes);

}  // namespace tiersim
