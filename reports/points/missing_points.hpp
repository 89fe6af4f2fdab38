#pragma once
// Why points have no value, counted: one that failed is a mistake of who asked, one that does not
// fit is an answer.
#include <cstddef>
#include <string>

#include "reports/points/point_table.hpp"

namespace tiersim {

struct MissingPoints {
  std::size_t failed = 0;
  std::size_t unfit = 0;      ///< ran into a limit, of capacity or of a method
  std::size_t valueless = 0;  ///< have a record, which has no such value

  void add(const ReportPoint& point);
  std::size_t count() const { return failed + unfit + valueless; }
  /// "3 failed, 1 does not fit, 2 have no such value"; without what there is none of.
  std::string text() const;
};

/// "1 point", "2 points".
std::string points_text(std::size_t count);

/// The problem of a point as far as one line of a note holds it: to its first semicolon, and no
/// more than 200 bytes, without a cut letter.
std::string short_problem(const std::string& problem);

/// The text, less what is beyond `most` bytes, which "..." stands for; no letter of UTF-8 is cut.
std::string shortened(const std::string& text, std::size_t most);

}  // namespace tiersim
