// MAPLE's Figures 1 (left) and 3: time split of a decode step, traffic across the boundary, and the
// roofline of screening. Of these the paper prints only the number of crossings.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "reports/papers/figures/paper_figures.hpp"

namespace tiersim {
namespace {

struct Part {
  const char* column;
  const char* name;
};
constexpr std::array<Part, 6> kParts{{{"share.weights", "weights"},
                                      {"share.kv", "keys and values, from HBM"},
                                      {"share.link_wait", "keys and values, over the link"},
                                      {"share.screening", "screening"},
                                      {"share.compute", "arithmetic"},
                                      {"share.latency", "latency"}}};

// "3.7": at most three digits, in ms.
std::string milliseconds(double seconds) {
  const double ms = seconds * 1e3;
  return ms >= 100 ? fmt::format("{:.0f}", ms) : fmt::format("{:.2g}", ms);
}

FigurePanel breakdown_panel(const StudyResult& study, std::string title) {
  FigurePanel panel{.title = std::move(title)};
  panel.x.label = "context (positions)";
  panel.y.label = "share of a decode step";
  panel.y.low = 0;
  panel.y.high = 1.12;
  panel.y.ticks = {{0, "0"}, {0.25, "0.25"}, {0.5, "0.5"}, {0.75, "0.75"}, {1, "1"}};
  std::vector<double> ends(study.rows.size(), 0.0);
  for (std::size_t p = 0; p < kParts.size(); ++p) {
    FigureSeries series{.name = kParts[p].name, .mark = SeriesMark::bars, .style = p, .points = {}};
    double largest = 0;
    for (std::size_t i = 0; i < study.rows.size(); ++i) {
      if (!study.rows[i].record) continue;
      const double share = number_of(*study.rows[i].record, kParts[p].column);
      const double from = ends[i];
      if (std::isfinite(share)) ends[i] += share;
      largest = std::max(largest, ends[i] - from);
      series.points.push_back({.x = static_cast<double>(i), .y = ends[i], .from = from});
    }
    if (largest > 0) add_series(panel, std::move(series));
  }
  for (std::size_t i = 0; i < study.rows.size(); ++i) {
    const auto x = static_cast<double>(i);
    panel.x.ticks.emplace_back(
        x, value_ticks({std::stod(study.rows[i].point.labels.front())}).front().second);
    if (study.rows[i].record)
      panel.texts.push_back(
          {.x = x, .y = 1, .text = milliseconds(number_of(*study.rows[i].record, "step_time_s"))});
  }
  show_bars(panel, static_cast<double>(study.rows.size()));
  return panel;
}

// Bars of one quantity for all methods, with the statement of the paper about it.
FigurePanel method_bars(const StudyResult& study, const char* column, double scale,
                        std::string label) {
  FigurePanel panel{};
  panel.y.label = std::move(label);
  panel.y.low = 0;
  FigureSeries bars{.name = "simulated", .mark = SeriesMark::bars, .points = {}, .bar_width = 0.55};
  double largest = 0;
  for (std::size_t i = 0; i < study.rows.size(); ++i) {
    const auto x = static_cast<double>(i);
    panel.x.ticks.emplace_back(x, study.rows[i].point.labels.front());
    if (!study.rows[i].record) continue;
    const double y = number_of(*study.rows[i].record, column) * scale;
    bars.points.push_back({.x = x, .y = y});
    if (y == 0) panel.texts.push_back({.x = x, .y = 0, .text = "0"});  // a value of 0 has no bar
    largest = std::max(largest, y);
  }
  show_bars(panel, static_cast<double>(study.rows.size()));
  panel.y.high = largest * 1.25;
  add_series(panel, std::move(bars));
  return panel;
}

Figure dataflow_figure(const PaperReport& report, const StudyResult& study) {
  Figure figure{
      .stem = "maple_fig3_dataflow",
      .where = study.study.where,
      .caption =
          "What crosses the boundary between GPU and pool. Bars: simulated, batch 128 at "
          "8192 positions; hollow: as the paper's text and drawing have it (SparQ crosses "
          "twice in a layer, MAPLE once).",
      .width = kSingleColumn,
      .panel_height = 1.25,
      .columns = 2,
      .panels = {}};
  FigurePanel trips = method_bars(study, "far_round_trips_per_layer", 1, "round trips a layer");
  FigureSeries paper{
      .name = "paper", .role = SeriesRole::paper, .mark = SeriesMark::points, .points = {}};
  for (const ReproducedStudy& one : report.studies)
    if (one.result.study.id == study.study.id)
      for (std::size_t c = 0; c < one.checks.size() && c < study.rows.size(); ++c)
        if (one.checks[c].id.ends_with("_crossings"))
          paper.points.push_back({.x = static_cast<double>(c), .y = one.checks[c].paper});
  trips.y.ticks = {{0, "0"}, {1, "1"}, {2, "2"}};
  add_series(trips, std::move(paper));
  figure.panels.push_back(std::move(trips));
  figure.panels.push_back(
      method_bars(study, "screening_far_bytes", 1e-9, "screening over the link (GB)"));
  return figure;
}

// A roof is a line of slope one at its bandwidth, labelled at its left end.
void add_roof(FigurePanel& panel, const RunRecord& record) {
  const double bandwidth = number_of(record, "screening_roof_bandwidth");
  const Cell tier = cell_of("screening_roof", record);
  const auto* name = std::get_if<std::string>(&tier.value());
  const double low = panel.x.low;
  const double high = panel.x.high;
  add_series(panel, {.role = SeriesRole::guide,
                     .points = {{.x = low, .y = bandwidth * low * 1e-12},
                                {.x = high, .y = bandwidth * high * 1e-12}}});
  panel.texts.push_back({.x = low,
                         .y = bandwidth * low * 12e-12,
                         .text = fmt::format("roof of {}: {:.4g} GB/s",
                                             name == nullptr ? "?" : *name, bandwidth * 1e-9),
                         .right = true});
}

Figure roofline_figure(const StudyResult& study) {
  Figure figure{
      .stem = "maple_fig3_roofline",
      .where = study.study.where,
      .caption =
          "Roofs of the screening phase: the least peak capacity on the path from the tier "
          "that is screened from. Points: rate as simulated, batch 128 at 8192 positions. "
          "The paper's roofline prints no values; what must hold is the move from one roof "
          "to the other.",
      .panel_height = 1.7,
      .panels = {}};
  FigurePanel panel{};
  panel.x = {.label = "intensity of screening (FLOP/B)", .log_base = 10, .low = 0.25, .high = 16};
  panel.x.ticks = value_ticks({0.25, 0.5, 1, 2, 4, 8, 16});
  panel.y = {.label = "rate of screening (TFLOP/s)", .log_base = 10, .low = 0.005, .high = 100};
  panel.y.ticks = {{0.01, "0.01"}, {0.1, "0.1"}, {1, "1"}, {10, "10"}, {100, "100"}};
  std::size_t style = 0;
  for (const StudyRow& row : study.rows) {
    if (!row.record) continue;
    add_roof(panel, *row.record);
    const FigurePoint at{.x = number_of(*row.record, "screening_intensity"),
                         .y = number_of(*row.record, "screening_rate") * 1e-12};
    add_series(panel, {.name = row.point.labels.front() + ", simulated",
                       .mark = SeriesMark::points,
                       .style = style++,
                       .points = {at}});
  }
  figure.panels.push_back(std::move(panel));
  return figure;
}

}  // namespace

std::vector<Figure> breakdown_figures(const PaperReport& report) {
  Figure figure{
      .stem = "maple_fig1_left",
      .where = "Figure 1 left",
      .caption =
          "Where a decode step of Llama-2-7B goes, batch 2, simulated; above the bars its "
          "time in ms. The paper's bars have no printed values: what must hold is that keys "
          "and values grow linearly and come to dominate.",
      .width = kDoubleColumn,
      .columns = 2,
      .panels = {}};
  for (const auto& [id, title] : {std::pair{"maple.fig1_left.hbm", "keys and values in HBM"},
                                  std::pair{"maple.fig1_left.pool", "keys and values in the pool"}})
    if (const StudyResult* study = find_study(report, id))
      figure.panels.push_back(breakdown_panel(*study, title));
  return {figure};
}

std::vector<Figure> screening_figures(const PaperReport& report) {
  std::vector<Figure> out;
  if (const StudyResult* study = find_study(report, "maple.fig3_dataflow"))
    out.push_back(dataflow_figure(report, *study));
  if (const StudyResult* study = find_study(report, "maple.fig3_roofline"))
    out.push_back(roofline_figure(*study));
  return out;
}

}  // namespace tiersim
