#pragma once
// Typed rows of the sections of a paper's report, parsed from their JSON (`reproduce --json`), for
// figures. A section that is absent has no rows. A section in another form is a programming error.
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
  double value = 0;  ///< of the metric of the curves; 0 where the point cannot run
  double ratio = 0;  ///< to the first way; 0 where either cannot run
};

/// One cell of a speed-up grid.
struct GridRow {
  std::string machine;
  std::string tiles;
  std::string region;
  std::string conditions;  ///< all conditions in one text, equal for the cases of one cell
  std::string of_case;
  double ratio = 0;
  bool near_all = false;
};

/// One printed cell of a paper on early exit. Arrays hold the least, middle and largest value over
/// the correlations.
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
