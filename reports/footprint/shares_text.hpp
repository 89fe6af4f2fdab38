#pragma once
// Table cells and notes shared by the reports about bytes.
#include <optional>
#include <string>
#include <vector>

#include "reports/footprint/footprint_report.hpp"
#include "reports/footprint/record_bytes.hpp"
#include "reports/points/point_table.hpp"

namespace tiersim {

/// `part` over `whole`; none where `whole` is 0.
std::optional<double> ratio_of(double part, double whole);
/// "x 0.83"; "-" where there is none.
std::string times_text(std::optional<double> ratio);
/// The same text as a cell.
Cell times_cell(std::optional<double> ratio);
/// A mean of bytes, shown as "512 GiB"; "-" where there is no mean.
Cell mean_bytes_cell(std::optional<double> bytes);
/// A column of bytes; CSV has the unit in its head.
Column bytes_column(const std::string& title);

/// The number of points without the value, and the reasons: "3 points (1 failed, 2 do not fit); the
/// first: ...". `kept`: the setting with which the store of a sweep keeps the value.
std::vector<std::string> notes_on_missing(const PointTable& table, bool (*has)(const RunRecord&),
                                          const std::string& what,
                                          const std::string& kept = "`keep: results`");

}  // namespace tiersim
