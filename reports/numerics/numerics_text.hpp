#pragma once
// A numerical study as text for people and as JSON for programs. It is in this folder because
// workloads must not include reports.
#include <string>
#include <vector>

#include "reports/render/table.hpp"
#include "workloads/numerics/study.hpp"

namespace tiersim {

/// The table for people has a row for each line and a column for each value of x. A cell is empty
/// where its line has no value there. The plot's letter stands before the name of each line.
Table lines_table(const numerics::Curve& curve);
/// The table for CSV has a column for x and one for each line. gnuplot reads it after `set datafile
/// separator comma`.
Table points_table(const numerics::Curve& curve);

/// All lines in one plot of 64 by 14 characters. Each is drawn by the letter of its row, and '*' is
/// a place where two meet. x is logarithmic where it spans more than a factor of 8.
std::string plot(const numerics::Curve& curve);

/// Verdict, finding and source of each statement.
std::string statements_text(const std::vector<numerics::Statement>& statements);
Table statements_table(const std::vector<numerics::Statement>& statements);

std::string to_markdown(const numerics::Study& study);
/// {"studies": [{name, tables, curves, statements}]}
std::string to_json(const std::vector<numerics::Study>& studies);

}  // namespace tiersim
