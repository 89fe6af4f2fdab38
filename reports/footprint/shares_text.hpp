#pragma once
// Cells and notes that tables of bytes over points share.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/footprint/footprint_report.hpp"
#include "reports/footprint/record_bytes.hpp"
#include "reports/points/point_table.hpp"

namespace tiersim {

/// `part` over `whole`; nothing where that says nothing.
std::optional<double> ratio_of(double part, double whole);
/// "x 0.83"; "-" of nothing.
std::string times_text(std::optional<double> ratio);
/// A mean of bytes: "512 GiB", or for programs a number with what is behind the point.
std::string mean_bytes_text(std::optional<double> bytes, Precision precision);
/// Whole bytes likewise; "-" of 0 where rounded.
std::string whole_bytes_text(std::int64_t bytes, Precision precision);

/// How many points the table has nothing of, and why: "3 points (1 failed, 2 do not fit);
/// the first: ...". `kept`: what a sweep has to say for its store to have it.
std::vector<std::string> notes_on_missing(const PointTable& table, bool (*has)(const RunRecord&),
                                          const std::string& what,
                                          const std::string& kept = "`keep: results`");

}  // namespace tiersim
