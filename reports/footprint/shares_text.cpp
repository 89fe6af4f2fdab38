#include "reports/footprint/shares_text.hpp"

#include <cmath>

#include <fmt/format.h>

#include "reports/points/missing_points.hpp"
#include "reports/summary/summary_parts.hpp"
#include "sim/base/text.hpp"

namespace tiersim {

std::optional<double> ratio_of(double part, double whole) {
  if (whole == 0) return std::nullopt;
  return part / whole;
}

std::string times_text(std::optional<double> ratio) {
  return ratio ? fmt::format("x {:.3g}", *ratio) : "-";
}

Cell times_cell(std::optional<double> ratio) {
  return ratio ? Cell(*ratio, times_text(ratio)) : Cell({}, "-");
}

Cell mean_bytes_cell(std::optional<double> bytes) {
  if (!bytes) return Cell({}, "-");
  if (*bytes > 0 && *bytes < 1) return {*bytes, fmt::format("{:.2g} B", *bytes)};
  return {*bytes, bytes_text(std::llround(*bytes))};
}

Column bytes_column(const std::string& title) {
  return {.title = title, .csv = title + " [B]", .unit = "B"};
}

std::vector<std::string> notes_on_missing(const PointTable& table, bool (*has)(const RunRecord&),
                                          const std::string& what, const std::string& kept) {
  std::vector<std::string> out;
  std::size_t without = 0;
  MissingPoints missing;
  std::string first;
  for (const ReportPoint& point : table.points) {
    if (!point.record) {
      if (missing.count() == 0) first = point.problem;
      missing.add(point);
    } else if (!has(*point.record)) {
      ++without;
    }
  }
  if (missing.count() > 0)
    out.push_back(fmt::format("not there: {} ({}); the first: {}", points_text(missing.count()),
                              missing.text(), printable(short_problem(first))));
  if (without > 0)
    out.push_back(
        fmt::format("not there: {} whose record says nothing of {} (a store has it where its sweep "
                    "says {})",
                    points_text(without), what, kept));
  return out;
}

}  // namespace tiersim
