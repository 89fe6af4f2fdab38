#pragma once
// A numerical study as people and programs read it. Here because reports see records, and workloads
// see no reports.
#include <string>
#include <vector>

#include "reports/render/table.hpp"
#include "workloads/numerics/study.hpp"

namespace tiersim {

enum class StudyDigits {
  few,
  all
};  ///< four significant ones for people, or what reads back the same

/// Text of a cell to the left, numbers to the right.
Table rendered(const numerics::Table& table, StudyDigits digits);

/// A line a row, a value of x a column; where a line has no such value the cell is empty. With a
/// letter before each name for the plot.
Table rendered(const numerics::Curve& curve, StudyDigits digits);

/// The lines over each other, 64 by 14 characters, each by the letter of its row; '*' where two
/// meet. x is logarithmic where it spans more than a factor of 8.
std::string plot(const numerics::Curve& curve);

/// For gnuplot (set datafile separator comma): a column x, a column a line.
std::string to_csv(const numerics::Curve& curve);

/// Whether each statement holds, what was found, where it comes from.
std::string statements_text(const std::vector<numerics::Statement>& statements);
Table statements_table(const std::vector<numerics::Statement>& statements);

std::string to_markdown(const numerics::Study& study);
/// {"studies": [{name, tables, curves, statements}]}
std::string to_json(const std::vector<numerics::Study>& studies);

}  // namespace tiersim
