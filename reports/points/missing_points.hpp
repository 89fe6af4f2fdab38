#pragma once
// Counts of points without a value, by reason. A failed point is the user's mistake; a point that
// does not fit is a result.
#include <cstddef>
#include <string>

#include "reports/points/point_table.hpp"

namespace tiersim {

struct MissingPoints {
  std::size_t failed = 0;
  std::size_t unfit = 0;      ///< exceeded a limit of capacity or of a method
  std::size_t valueless = 0;  ///< have a record without this value

  void add(const ReportPoint& point);
  std::size_t count() const { return failed + unfit + valueless; }
  /// "3 failed, 1 does not fit, 2 have no such value"; counts of 0 are left out.
  std::string text() const;
};

/// "1 point", "2 points".
std::string points_text(std::size_t count);

/// The problem of a point for one line of a note: up to its first semicolon and at most 200 bytes,
/// without a cut character.
std::string short_problem(const std::string& problem);

}  // namespace tiersim
