// TPLA's Figures 3 and 4: throughput and time to the first token over the context, their ratios
// with the printed ones, and the printed speed-ups under every declared condition.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "reports/papers/figures/paper_figures.hpp"
#include "reports/papers/figures/section_rows.hpp"

namespace tiersim {
namespace {

// Contexts of the printed ratios: 32K and the longest of Figure 3, and a prompt of 1K in section
// 5.4.2.
constexpr double kContext32K = 32768;
constexpr double kLongest = 131072;
constexpr double kPrompt1K = 1024;

template <class Row>
std::vector<std::string> values_of(const std::vector<Row>& rows, std::string Row::*member) {
  std::vector<std::string> out;
  for (const Row& row : rows)
    if (std::ranges::find(out, row.*member) == out.end()) out.push_back(row.*member);
  return out;
}

FigureAxis context_axis(const std::vector<CurveRow>& rows, std::string label) {
  std::vector<double> values;
  for (const CurveRow& row : rows)
    if (std::ranges::find(values, row.context) == values.end()) values.push_back(row.context);
  FigureAxis axis{.label = std::move(label), .log_base = 2};
  axis.ticks = value_ticks(values);
  if (!values.empty()) {
    axis.low = values.front() / 1.15;
    axis.high = values.back() * 1.15;
  }
  return axis;
}

struct Choice {
  std::string machine;
  std::string of_case;
  std::string way;
};

// Scaled values or ratios of one line; a point that cannot run interrupts it.
std::vector<FigurePoint> points_of(const std::vector<CurveRow>& rows, const Choice& choice,
                                   bool ratio, double scale = 1) {
  std::vector<FigurePoint> out;
  for (const CurveRow& row : rows) {
    if (row.machine != choice.machine || row.of_case != choice.of_case || row.way != choice.way)
      continue;
    const double y = ratio ? row.ratio : row.value * scale;
    out.push_back({.x = row.context, .y = y > 0 ? y : kNoValue});
  }
  return out;
}

void add_printed(FigurePanel& panel, const std::string& name, std::size_t style, double x,
                 double y) {
  if (!std::isfinite(y)) return;
  add_series(panel, {.name = name,
                     .role = SeriesRole::paper,
                     .mark = SeriesMark::points,
                     .style = style,
                     .points = {{.x = x, .y = y}}});
}

constexpr std::array<const char*, 6> kMachines{"H100 790", "H100 660", "H200 790",
                                               "H20",      "A100",     "B200"};

// Panels for the models, side by side, over the context.
Figure by_model(Figure figure, const std::vector<CurveRow>& rows, const std::string& x_label,
                const FigureAxis& y,
                const std::function<void(FigurePanel&, const std::string& of_case)>& fill) {
  figure.width = kDoubleColumn;
  figure.panel_height = 1.8;
  figure.columns = 2;
  for (const std::string& of_case : values_of(rows, &CurveRow::of_case)) {
    FigurePanel panel{.title = of_case, .x = context_axis(rows, x_label), .y = y};
    fill(panel, of_case);
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

Figure ratio_figure(const PaperReport& report, const std::vector<CurveRow>& rows) {
  const auto fill = [&](FigurePanel& panel, const std::string& of_case) {
    for (std::size_t m = 0; m < kMachines.size(); ++m)
      add_series(panel, {.name = fmt::format("{}, simulated", kMachines[m]),
                         .style = m,
                         .points = points_of(rows, {kMachines[m], of_case, "TPLA TP2"}, true)});
    add_printed(panel, "paper, at 32K", 0, kContext32K,
                printed_value(report, "tpla.decode_speedup_32k." + of_case));
    add_printed(panel, "paper, \"up to\"", 1, kLongest,
                printed_value(report, "tpla.decode_speedup_peak." + of_case));
  };
  return by_model(
      {.stem = "tpla_fig3_speedup",
       .where = "Figure 3",
       .caption = "Decode throughput of TPLA TP2 over MLA TP2 at the largest batch that fits, MoE "
                  "removed, simulated on six machines (790, 660: TFLOP/s of attention kernels); "
                  "hollow: as printed. The paper does not name the machine of this figure. Printed "
                  "above the ratio of the caches' bytes, 1.8, is explained by no such curve; see "
                  "the grid of conditions."},
      rows, "context (positions)",
      {.label = "tokens/s over those of MLA TP2", .low = 0.7, .high = 2.1}, fill);
}

Figure throughput_figure(const std::vector<CurveRow>& rows) {
  const std::vector<std::string> ways = values_of(rows, &CurveRow::way);
  const auto fill = [&](FigurePanel& panel, const std::string& of_case) {
    for (std::size_t w = 0; w < ways.size(); ++w)
      add_series(panel, {.name = ways[w],
                         .style = w,
                         .points = points_of(rows, {"H100 790", of_case, ways[w]}, false, 1e-3)});
  };
  return by_model(
      {.stem = "tpla_fig3_throughput",
       .where = "Figure 3",
       .caption = "Decode throughput at the largest batch that fits, MoE removed, simulated on "
                  "H100s whose attention kernels reach 790 TFLOP/s: two of them, four for TP4. The "
                  "paper prints no absolute value of this figure."},
      rows, "context (positions)", {.label = "1000 tokens/s", .log_base = 10}, fill);
}

Figure ttft_figure(const PaperReport& report, const std::vector<CurveRow>& rows) {
  const std::vector<std::string> ways = values_of(rows, &CurveRow::way);
  const auto fill = [&](FigurePanel& panel, const std::string& of_case) {
    std::size_t style = 0;
    for (const std::string& way : ways)
      if (!way.starts_with("sep."))
        add_series(panel, {.name = "TPLA, " + way,
                           .style = style++,
                           .points = points_of(rows, {"H100", of_case, way}, true)});
    add_printed(panel, "paper, at 1K", 0, kPrompt1K,
                printed_value(report, "tpla.ttft_1k." + of_case));
  };
  return by_model(
      {.stem = "tpla_fig4_ttft",
       .where = "Figure 4",
       .caption =
           "Time to the first token on two H100s, MoE removed: prefill by TPLA over prefill "
           "by MLA (\"sep.\"), simulated in the four ways that the paper leaves open "
           "(attention explicit or absorbed, output projection replicated or split); hollow: "
           "1.4 as printed for a prompt of 1K."},
      rows, "prompt (tokens)", {.label = "TTFT over that of sep.", .low = 0.9}, fill);
}

// The name in the paper; ids of targets are in lower case.
std::string model_name(const std::string& of_case) {
  if (of_case == "deepseek-v3") return "DeepSeek-V3";
  if (of_case == "kimi-k2") return "Kimi-K2";
  return of_case;
}

// Every declared cell: the ratio of one model over that of the other.
Figure grid_figure(const PaperReport& report, const std::vector<GridRow>& rows) {
  Figure figure{
      .stem = "tpla_speedup_grid",
      .where = "Figure 3, section 5.4.1",
      .caption =
          "Every declared condition of the speed-up at 32K (machine, rows of a tile, timed "
          "region, output projection, batch, host): TPLA TP2 over MLA TP2 of one model "
          "beside the other's, simulated, by the rows of a tile; hollow: as printed. What "
          "comes near both explains them, and several things do.",
      .panel_height = 2.4,
      .panels = {}};
  const std::vector<std::string> cases = values_of(rows, &GridRow::of_case);
  if (cases.size() != 2) return figure;
  std::map<std::string, double> other;
  for (const GridRow& row : rows)
    if (row.of_case == cases[1]) other[row.conditions] = row.ratio;
  FigurePanel panel{};
  panel.x = {.label = "TPLA over MLA, " + model_name(cases[0]), .low = 0.85, .high = 2.05};
  panel.y = {.label = "TPLA over MLA, " + model_name(cases[1]), .low = 0.85, .high = 2.05};
  std::size_t style = 0;
  for (const std::string& tiles : values_of(rows, &GridRow::tiles)) {
    const bool plain = tiles == "unpadded" || tiles == "fa3";
    FigureSeries series{.name = plain ? tiles : fmt::format("{} rows a tile", tiles),
                        .mark = SeriesMark::points,
                        .style = style++,
                        .points = {}};
    for (const GridRow& row : rows)
      if (row.tiles == tiles && row.of_case == cases[0] && row.ratio > 0 &&
          other[row.conditions] > 0)
        series.points.push_back({.x = row.ratio, .y = other[row.conditions]});
    add_series(panel, std::move(series));
  }
  const double x = printed_value(report, "tpla.decode_speedup_32k." + cases[0]);
  const double y = printed_value(report, "tpla.decode_speedup_32k." + cases[1]);
  if (std::isfinite(x)) add_printed(panel, "paper", 0, x, y);
  figure.panels.push_back(std::move(panel));
  return figure;
}

}  // namespace

std::vector<Figure> speedup_figures(const PaperReport& report) {
  std::vector<Figure> out;
  if (const auto rows = curve_rows(report.sections, "tpla.fig3"); !rows.empty()) {
    out.push_back(ratio_figure(report, rows));
    out.push_back(throughput_figure(rows));
  }
  if (const auto rows = curve_rows(report.sections, "tpla.ttft"); !rows.empty())
    out.push_back(ttft_figure(report, rows));
  if (const auto rows = grid_rows(report.sections, "tpla.decode_speedup_32k"); !rows.empty())
    out.push_back(grid_figure(report, rows));
  return out;
}

}  // namespace tiersim
