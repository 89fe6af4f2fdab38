#pragma once
// The rows that sections of a paper's report have for programs (`reproduce --json`), typed, for
// figures. A section that is not there has no rows; one of another form is a fault of ours.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/papers/reproduce/section.hpp"

namespace tiersim {

/// One point of curves over the context.
struct CurveRow {
  std::string machine;
  std::string of_case;
  std::string way;
  double context = 0;
  double value = 0;  ///< the curves' metric; 0 where it cannot run
  double ratio = 0;  ///< to the first way; 0 where either cannot run
};

/// One cell of a speed-up grid.
struct GridRow {
  std::string machine;
  std::string tiles;
  std::string region;
  std::string conditions;  ///< all of them in one text: the same for the cases of one cell
  std::string of_case;
  double ratio = 0;
  bool near_all = false;
};

/// One printed cell of a paper on early exit. Ranges are over the correlations: least, middle one,
/// largest.
struct ExitRow {
  std::string model;
  std::string technique;
  std::string what;  ///< input, prediction, unexplained
  double paper_tokens_per_s = 0;
  double paper_latency_s = 0;
  std::array<double, 3> tokens_per_s{};
  std::array<double, 3> latency_s{};
};

/// One point of an early-exit engine over the batch.
struct BatchSweepRow {
  std::string way;
  double correlation = 0;
  double batch = 0;
  double speedup = 0;
};

const ReportSection* find_section(const std::vector<ReportSection>& sections, std::string_view id);

std::vector<CurveRow> curve_rows(const std::vector<ReportSection>& sections, std::string_view id);
std::vector<GridRow> grid_rows(const std::vector<ReportSection>& sections, std::string_view id);
std::vector<ExitRow> exit_rows(const std::vector<ReportSection>& sections, std::string_view id);
std::vector<BatchSweepRow> engine_rows(const std::vector<ReportSection>& sections,
                                       std::string_view id);

}  // namespace tiersim
