#pragma once
// The figures of a paper, from its report. A figure is made where the report has its study or
// section. Printed numbers are hollow markers. Curves that a paper shows only as a picture have no
// printed values, and their captions say so.
#include <string>
#include <vector>

#include "reports/papers/reproduce/paper_report.hpp"
#include "reports/render/figure.hpp"

namespace tiersim {

/// Recall of a method: the share of the rows with the highest exact scores that it chose. From a
/// numerical study of synthetic heads (`tiersim numerics maple`), never from the model whose speed
/// is simulated.
struct RecallPoint {
  std::string method;   ///< "sparq"
  std::string setting;  ///< "r 16"
  double budget = 0;    ///< share of the rows
  double recall = 0;
  double deviation = 0;  ///< standard deviation over heads
};

/// All figures of a paper, in the order of the paper.
std::vector<Figure> figures_of(const PaperReport& report, const std::vector<RecallPoint>& recall);

// The figures by family. figures_of() joins them and leaves out those without panels.
std::vector<Figure> table_figures(const PaperReport& report);
std::vector<Figure> screening_figures(const PaperReport& report);
std::vector<Figure> breakdown_figures(const PaperReport& report);
std::vector<Figure> recall_figures(const PaperReport& report,
                                   const std::vector<RecallPoint>& recall);
std::vector<Figure> method_figures(const PaperReport& report);
std::vector<Figure> latent_figures(const PaperReport& report);
std::vector<Figure> speedup_figures(const PaperReport& report);
std::vector<Figure> exit_figures(const PaperReport& report);
std::vector<Figure> engine_figures(const PaperReport& report);

/// Ticks at these values: "1K" for 1024, "0.25" for 0.25.
std::vector<std::pair<double, std::string>> value_ticks(const std::vector<double>& values);

/// Sets the range of x so that bars at 0, 1, ..., `bars` - 1 are shown in full.
void show_bars(FigurePanel& panel, double bars);

/// Adds `series` where it has points.
void add_series(FigurePanel& panel, FigureSeries series);

/// A study of the report, or null.
const StudyResult* find_study(const PaperReport& report, std::string_view id);

/// A number of a record by its column name in studies; kNoValue where there is none.
double number_of(const RunRecord& record, const std::string& column);

/// A printed value by the id of its target; kNoValue where there is none.
double printed_value(const PaperReport& report, std::string_view id);

}  // namespace tiersim
