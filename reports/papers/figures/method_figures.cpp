// Methods that keep the cache in the pool: speed over context, batch, pool bandwidth and GPUs; and
// recall at a budget beside speed at that budget.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "reports/papers/figures/paper_figures.hpp"

namespace tiersim {
namespace {

constexpr std::array<const char*, 6> kShown{"dense HBM", "dense pool", "SparQ r2",
                                            "Quest",     "Loki",       "MAPLE"};

// The number of the label on the last axis, such as a context or a budget of 0.25.
double axis_value(const StudyRow& row) {
  return std::stod(row.point.labels.back());
}

double speed(const StudyRow& row) {
  return row.record ? number_of(*row.record, "throughput_tokens_per_s") : kNoValue;
}

// Tokens/s over the last axis of a study, with a line for each method; colours agree over all
// panels.
FigurePanel speed_panel(const StudyResult& study, std::string x_label) {
  FigurePanel panel{};
  panel.x = {.label = std::move(x_label), .log_base = 2};
  panel.y = {.label = "tokens/s", .log_base = 10};
  std::vector<double> values;
  for (std::size_t m = 0; m < kShown.size(); ++m) {
    FigureSeries series{.name = kShown[m], .style = m, .points = {}};
    for (const StudyRow& row : study.rows) {
      if (row.point.labels.front() != kShown[m]) continue;
      const double x = axis_value(row);
      if (std::ranges::find(values, x) == values.end()) values.push_back(x);
      series.points.push_back({.x = x, .y = speed(row)});
    }
    if (std::ranges::any_of(series.points, [](const FigurePoint& p) { return std::isfinite(p.y); }))
      add_series(panel, std::move(series));
  }
  std::ranges::sort(values);
  if (!values.empty()) {
    panel.x.low = values.front() / 1.05;
    panel.x.high = values.back() * 1.05;
  }
  panel.x.ticks = value_ticks(values);
  return panel;
}

// The numerical result for each simulated method: the same budget, and screening by the same share
// of the components of a key (64 in the study, 128 in the model).
struct Match {
  const char* simulated;
  const char* method;
  const char* setting;
  const char* name;
};
constexpr std::array<Match, 4> kMatches{{
    {"MAPLE", "maple", "rank 16", "MAPLE, k = d/4"},
    {"SparQ r32", "sparq", "r 16", "SparQ, r = d/4"},
    {"Loki", "loki", "rank 16", "Loki, d/4 components"},
    {"Quest", "quest", "page 16", "Quest, pages of 16"},
}};
// Methods that evict rows for good, at the one budget that is simulated.
constexpr std::array<Match, 2> kEvicting{{
    {"H2O", "h2o", "half newest", "H2O, half newest, budget 1/4"},
    {"StreamingLLM", "streaming_llm", "4 sinks", "StreamingLLM, 4 sinks, budget 1/4"},
}};
constexpr double kEvictingBudget = 0.25;

const RecallPoint* recall_of(const std::vector<RecallPoint>& recall, const Match& match,
                             double budget) {
  for (const RecallPoint& point : recall)
    if (point.method == match.method && point.setting == match.setting && point.budget == budget)
      return &point;
  return nullptr;
}

FigurePoint beside(double tokens_per_s, const RecallPoint& point) {
  return {.x = tokens_per_s,
          .y = point.recall,
          .low = point.recall - point.deviation,
          .high = point.recall + point.deviation};
}

// A range slightly wider than the data, since gnuplot extends it to the next power of ten.
void fit(FigureAxis& axis, const std::vector<FigureSeries>& series) {
  for (const FigureSeries& one : series)
    for (const FigurePoint& point : one.points) {
      if (!std::isfinite(axis.low) || point.x / 1.3 < axis.low) axis.low = point.x / 1.3;
      if (!std::isfinite(axis.high) || point.x * 1.3 > axis.high) axis.high = point.x * 1.3;
    }
}

FigurePanel recall_panel(const StudyResult& budgets, const StudyResult& fixed,
                         const std::vector<RecallPoint>& recall) {
  FigurePanel panel{};
  panel.x = {.label = "tokens/s (Llama-2-7B, simulated)", .log_base = 10};
  panel.y = {.label = "recall (synthetic heads)", .low = 0, .high = 1.08};
  std::size_t style = 0;
  for (const Match& match : kMatches) {
    FigureSeries series{.name = match.name, .style = style++, .points = {}};
    for (const StudyRow& row : budgets.rows) {
      if (row.point.labels.front() != match.simulated || !row.record) continue;
      if (const RecallPoint* point = recall_of(recall, match, axis_value(row)))
        series.points.push_back(beside(speed(row), *point));
    }
    if (series.points.size() == 1) series.mark = SeriesMark::points;
    add_series(panel, std::move(series));
  }
  const auto speed_of = [&](const char* label) {
    for (const StudyRow& row : fixed.rows)
      if (row.point.labels.front() == label) return speed(row);
    return kNoValue;
  };
  for (const Match& match : kEvicting)
    if (const RecallPoint* point = recall_of(recall, match, kEvictingBudget);
        point != nullptr && std::isfinite(speed_of(match.simulated)))
      add_series(panel, {.name = match.name,
                         .mark = SeriesMark::points,
                         .style = style++,
                         .points = {beside(speed_of(match.simulated), *point)}});
  FigureSeries dense{.name = "dense, HBM and pool (all rows)",
                     .role = SeriesRole::first_principles,
                     .mark = SeriesMark::points,
                     .style = 6,
                     .points = {}};
  for (const char* label : {"dense pool", "dense HBM"})
    if (std::isfinite(speed_of(label))) dense.points.push_back({.x = speed_of(label), .y = 1});
  add_series(panel, std::move(dense));
  fit(panel.x, panel.series);
  return panel;
}

}  // namespace

std::vector<Figure> recall_figures(const PaperReport& report,
                                   const std::vector<RecallPoint>& recall) {
  const StudyResult* budgets = find_study(report, "maple.budget");
  const StudyResult* fixed = find_study(report, "maple.costs");
  if (budgets == nullptr || fixed == nullptr || recall.empty()) return {};
  return {
      {.stem = "maple_recall_speed",
       .caption =
           "Recall at a budget beside speed at that budget, batch 16 at 8192 positions. Recall: of "
           "as many rows with the highest exact scores, the share chosen, on synthetic heads "
           "(`tiersim numerics maple`; whiskers: standard deviation over heads), which are assumed "
           "and not the model's: no accuracy of a model is claimed. Lines: budgets 1/64 to 1/2 "
           "from right to left. SparQ and Loki: the one budget, 1/8, at which the study has the "
           "same share of components (a quarter) as is simulated; SparQ with r = 2 of 128 has "
           "none and is left out.",
       .width = kDoubleColumn,
       .panel_height = 2.2,
       .panels = {recall_panel(*budgets, *fixed, recall)}}};
}

std::vector<Figure> method_figures(const PaperReport& report) {
  Figure figure{
      .stem = "maple_methods",
      .caption =
          "Beyond the paper: methods of keeping the cache, Llama-2-7B on the default system, "
          "simulated. Over the context (batch 2), the batch (8192 positions), a factor on "
          "the pool's bandwidth, and GPUs that share one pool (batch 16 each; tokens/s of "
          "all). Lines end where a step does not fit. No accuracy is modelled here.",
      .width = kDoubleColumn,
      .panel_height = 1.5,
      .columns = 2,
      .panels = {}};
  for (const auto& [id, label] : {std::pair{"maple.context", "context (positions)"},
                                  std::pair{"maple.batch", "batch (sequences)"},
                                  std::pair{"maple.bandwidth", "factor on the pool's bandwidth"},
                                  std::pair{"maple.sharing", "GPUs that share the pool"}})
    if (const StudyResult* study = find_study(report, id))
      figure.panels.push_back(speed_panel(*study, label));
  return {figure};
}

}  // namespace tiersim
