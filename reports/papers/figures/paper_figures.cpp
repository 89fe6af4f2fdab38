#include "reports/papers/figures/paper_figures.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tiersim {

std::vector<Figure> figures_of(const PaperReport& report, const std::vector<RecallPoint>& recall) {
  std::vector<Figure> out;
  const auto add = [&](std::vector<Figure> figures) {
    std::ranges::move(figures, std::back_inserter(out));
  };
  add(breakdown_figures(report));
  add(screening_figures(report));
  add(table_figures(report));
  add(recall_figures(report, recall));
  add(method_figures(report));
  add(latent_figures(report));
  add(speedup_figures(report));
  add(exit_figures(report));
  add(engine_figures(report));
  std::erase_if(out, [](const Figure& figure) { return figure.panels.empty(); });
  return out;
}

std::vector<std::pair<double, std::string>> value_ticks(const std::vector<double>& values) {
  std::vector<std::pair<double, std::string>> out;
  for (const double value : values) {
    const bool thousands = value >= 1024 && std::fmod(value, 1024) == 0;
    out.emplace_back(value,
                     thousands ? fmt::format("{:g}K", value / 1024) : fmt::format("{:.4g}", value));
  }
  return out;
}

void show_bars(FigurePanel& panel, double bars) {
  panel.x.low = -0.6;
  panel.x.high = bars - 0.4;
}

void add_series(FigurePanel& panel, FigureSeries series) {
  if (!series.points.empty()) panel.series.push_back(std::move(series));
}

const StudyResult* find_study(const PaperReport& report, std::string_view id) {
  for (const ReproducedStudy& study : report.studies)
    if (study.result.study.id == id) return &study.result;
  return nullptr;
}

double number_of(const RunRecord& record, const std::string& column) {
  return cell_of(column, record).number().value_or(kNoValue);
}

double printed_value(const PaperReport& report, std::string_view id) {
  for (const ReportSection& section : report.sections)
    for (const TargetResult& result : section.results)
      if (result.id == id) return result.paper;
  return kNoValue;
}

}  // namespace tiersim
