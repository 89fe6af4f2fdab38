#pragma once
// Table cells and notes shared by the reports about bytes.
#include <cstdint>
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
/// A mean number of bytes: "512 GiB" for people, a number with decimals for programs.
std::string mean_bytes_text(std::optional<double> bytes, Precision precision);
/// A whole number of bytes in the same form; "-" for 0 where rounded.
std::string whole_bytes_text(std::int64_t bytes, Precision precision);

/// The number of points without the value, and the reasons: "3 points (1 failed, 2 do not fit); the
/// first: ...". `kept`: the setting with which the store of a sweep keeps the value.
std::vector<std::string> notes_on_missing(const PointTable& table, bool (*has)(const RunRecord&),
                                          const std::string& what,
                                          const std::string& kept = "`keep: results`");

}  // namespace tiersim
