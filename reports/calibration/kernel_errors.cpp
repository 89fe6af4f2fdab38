#include "reports/calibration/kernel_errors.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/calibration/timing_table_report.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostPoints = 400;  // of a series in a picture
constexpr double kMicrosecond = 1e-6;
constexpr std::array<double, 6> kTimeEnds{0, 10, 100, 1'000, 10'000, 1e12};  // us

FitErrors errors_within(const KernelErrors& kernel, double from, double to) {
  std::vector<double> errors;
  for (const RowAnswer& row : kernel.rows)
    if (row.measured >= from && row.measured < to)
      errors.push_back(row.simulated / row.measured - 1);
  return errors_of(errors);
}

double share_of(const KernelErrors& kernel, bool (*holds)(const RowAnswer&)) {
  if (kernel.rows.empty()) return 0;
  return static_cast<double>(std::ranges::count_if(kernel.rows, holds)) /
         static_cast<double>(kernel.rows.size());
}
double within_share(const KernelErrors& kernel) {
  return share_of(kernel, [](const RowAnswer& row) {
    return row.low <= row.measured && row.measured <= row.high;
  });
}
double beyond_share(const KernelErrors& kernel) {
  return share_of(kernel, [](const RowAnswer& row) { return row.beyond; });
}

Json json_of(const FitErrors& errors) {
  return {{"rows", errors.rows},
          {"median_abs", errors.median},
          {"p90_abs", errors.p90},
          {"bias", errors.bias}};
}

Json json_of(const KernelErrors& kernel) {
  Json out{{"family", kernel.family},  {"dtype", kernel.dtype}, {"gpu", kernel.gpu},
           {"engine", kernel.engine},  {"table", kernel.table}, {"by", kernel.by},
           {"kernels", kernel.kernels}};
  out.update(json_of(errors_of(kernel)));
  out["within"] = within_share(kernel);
  out["beyond"] = beyond_share(kernel);
  out["noise"] = kernel.noise;
  out["goal"] = nullptr;
  if (kernel.goal) out["goal"] = {{"median", kernel.goal->median}, {"p90", kernel.goal->p90}};
  out["missed"] = misses_goal(kernel);
  out["by_time"] = Json::array();
  for (std::size_t i = 0; i + 1 < kTimeEnds.size(); ++i) {
    const double from = kTimeEnds[i] * kMicrosecond;
    const double to = kTimeEnds[i + 1] * kMicrosecond;
    const FitErrors errors = errors_within(kernel, from, to);
    if (errors.rows == 0) continue;
    Json bin{{"from_us", kTimeEnds[i]}, {"to_us", kTimeEnds[i + 1]}};
    if (i + 2 == kTimeEnds.size()) bin["to_us"] = nullptr;
    bin.update(json_of(errors));
    out["by_time"].push_back(std::move(bin));
  }
  return out;
}

FigureSeries points_of(const KernelErrors& kernel, std::size_t style) {
  FigureSeries series{.name = fmt::format("{} {}", kernel.engine, kernel.dtype),
                      .mark = SeriesMark::points,
                      .style = style};
  const std::size_t step = std::max<std::size_t>(1, kernel.rows.size() / kMostPoints);
  for (std::size_t i = 0; i < kernel.rows.size(); i += step)
    series.points.push_back({.x = kernel.rows[i].measured / kMicrosecond,
                             .y = kernel.rows[i].simulated / kernel.rows[i].measured});
  return series;
}

}  // namespace

FitErrors errors_of(const KernelErrors& kernel) {
  return errors_within(kernel, 0, 1e12);
}

bool misses_goal(const KernelErrors& kernel) {
  if (!kernel.goal) return false;
  const FitErrors errors = errors_of(kernel);
  return errors.median > kernel.goal->median || errors.p90 > kernel.goal->p90;
}

Table kernel_errors_table(const std::vector<KernelErrors>& all) {
  Table out{.title = "Errors of kernels, by GPU, engine, family and type",
            .columns = {{"gpu", Align::left},
                        {"engine", Align::left},
                        {"table", Align::left},
                        {"family", Align::left},
                        {"type", Align::left, "dtype"},
                        {"rows"},
                        {"median"},
                        {"90th"},
                        {"bias"},
                        {"within"},
                        {"beyond"},
                        {"noise"},
                        {"goal", Align::left},
                        {"by", Align::left}}};
  for (const KernelErrors& kernel : all) {
    const FitErrors errors = errors_of(kernel);
    out.add({kernel.gpu, kernel.engine, kernel.table, kernel.family, kernel.dtype, errors.rows,
             share_cell(errors.median), share_cell(errors.p90),
             Cell(errors.bias, fmt::format("{:+.1f} %", 100 * errors.bias)),
             Cell(within_share(kernel), fmt::format("{:.0f} %", 100 * within_share(kernel))),
             Cell(beyond_share(kernel), fmt::format("{:.0f} %", 100 * beyond_share(kernel))),
             kernel.noise == 0 ? Cell(std::monostate{}, "-") : share_cell(kernel.noise),
             kernel.goal ? fmt::format("{:g} / {:g} %{}", 100 * kernel.goal->median,
                                       100 * kernel.goal->p90, misses_goal(kernel) ? " missed" : "")
                         : "-",
             kernel.by});
  }
  out.notes.emplace_back(
      "median, 90th percentile: of the absolute errors; bias: median of the signed errors; within: "
      "rows inside of the 95 % interval; beyond: rows outside of what a fit had; noise: spread of "
      "repeated rows");
  return out;
}

std::string to_json(const std::vector<KernelErrors>& all) {
  Json families = Json::array();
  for (const KernelErrors& kernel : all) families.push_back(json_of(kernel));
  return Json{{"families", std::move(families)}}.dump() + "\n";
}

std::vector<Figure> charts_of(const std::vector<KernelErrors>& all) {
  std::map<std::string, Figure> by_gpu;
  for (const KernelErrors& kernel : all) {
    if (kernel.rows.empty()) continue;
    Figure& figure = by_gpu[kernel.gpu];
    figure.stem = "kernels_" + kernel.gpu;
    figure.title = "Kernels of " + kernel.gpu;
    figure.subtitle = "Simulated over measured time";
    figure.width = kDoubleColumn;
    figure.columns = 2;
    figure.common_y = true;
    auto panel = std::ranges::find(figure.panels, kernel.table, &FigurePanel::title);
    if (panel == figure.panels.end()) {
      figure.panels.push_back({.title = kernel.table,
                               .x = {.label = "measured (us)", .log_base = 10},
                               .y = {.label = "simulated / measured", .log_base = 2}});
      panel = figure.panels.end() - 1;
    }
    panel->series.push_back(points_of(kernel, panel->series.size()));
  }
  std::vector<Figure> out;
  for (auto& [gpu, figure] : by_gpu) {
    number_styles(figure);
    out.push_back(std::move(figure));
  }
  return out;
}

}  // namespace tiersim
