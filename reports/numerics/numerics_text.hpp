#pragma once
// A numerical study as text for people and as JSON for programs. It is in this folder because
// workloads must not include reports.
#include <string>
#include <vector>

#include "reports/render/table.hpp"
#include "workloads/numerics/study.hpp"

namespace tiersim {

/// Four significant digits for people, or the shortest text that reads back the same
enum class StudyDigits { few, all };

/// Text is aligned to the left, numbers to the right.
Table rendered(const numerics::Table& table, StudyDigits digits);

/// A row for each line and a column for each x; a cell is empty where the line has no value at x.
/// Each name has the letter of the plot before it.
Table rendered(const numerics::Curve& curve, StudyDigits digits);

/// All lines in one plot of 64 by 14 characters. Each is drawn by the letter of its row, and '*' is
/// a place where two meet. x is logarithmic where it spans more than a factor of 8.
std::string plot(const numerics::Curve& curve);

/// For gnuplot (set datafile separator comma): a column for x and a column for each line.
std::string to_csv(const numerics::Curve& curve);

/// Verdict, finding and source of each statement.
std::string statements_text(const std::vector<numerics::Statement>& statements);
Table statements_table(const std::vector<numerics::Statement>& statements);

std::string to_markdown(const numerics::Study& study);
/// {"studies": [{name, tables, curves, statements}]}
std::string to_json(const std::vector<numerics::Study>& studies);

}  // namespace tiersim
