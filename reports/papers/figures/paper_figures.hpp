#pragma once
// The figures of a paper, from its report: each figure is made where its study or section is there,
// so that a paper without them simply has none. What the paper prints in numbers stands on them as
// hollow markers; curves whose values a paper shows only as a picture have none, and captions say
// so.
#include <string>
#include <vector>

#include "reports/papers/figures/paper_figure.hpp"
#include "reports/papers/reproduce/paper_report.hpp"

namespace tiersim {

/// How many of the rows with the highest exact scores a method chose, from a numerical study of
/// synthetic heads (`tiersim numerics maple`); never of the model whose speed is simulated.
struct RecallPoint {
  std::string method;   ///< "sparq"
  std::string setting;  ///< "r 16"
  double budget = 0;    ///< share of the rows
  double recall = 0;
  double deviation = 0;  ///< standard deviation over heads
};

/// All figures of a paper, in the order of its own.
std::vector<PaperFigure> figures_of(const PaperReport& report,
                                    const std::vector<RecallPoint>& recall);

// By family; figures_of() joins them and leaves out those without panels.
std::vector<PaperFigure> table_figures(const PaperReport& report);
std::vector<PaperFigure> screening_figures(const PaperReport& report);
std::vector<PaperFigure> breakdown_figures(const PaperReport& report);
std::vector<PaperFigure> recall_figures(const PaperReport& report,
                                        const std::vector<RecallPoint>& recall);
std::vector<PaperFigure> method_figures(const PaperReport& report);
std::vector<PaperFigure> latent_figures(const PaperReport& report);
std::vector<PaperFigure> speedup_figures(const PaperReport& report);
std::vector<PaperFigure> exit_figures(const PaperReport& report);
std::vector<PaperFigure> engine_figures(const PaperReport& report);

/// Ticks at these values: "1K" for 1024, "0.25" for 0.25.
std::vector<std::pair<double, std::string>> value_ticks(const std::vector<double>& values);

/// The range of x that shows bars whole that stand at 0, 1, ..., `bars` - 1.
void show_bars(PlotPanel& panel, double bars);

/// Adds `series` where it has points.
void add_series(PlotPanel& panel, PlotSeries series);

/// A study of the report, or null.
const StudyResult* find_study(const PaperReport& report, std::string_view id);

/// A number of a record as studies name it; kNoValue where there is none.
double number_of(const RunRecord& record, const std::string& column);

/// A printed value by the id of its target; kNoValue where there is none.
double printed_value(const PaperReport& report, std::string_view id);

}  // namespace tiersim
