// Early exit: the paper's Figures 1 and 2 beside a served model, and engines over the batch.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "reports/papers/figures/paper_figures.hpp"
#include "reports/papers/figures/section_rows.hpp"

namespace tiersim {
namespace {

// True for "state.rate_56.53" and the like: second readings are in the tables only.
bool is_second_reading(const std::string& technique) {
  return technique.find('.') != std::string::npos;
}

// The other reading of an unreadable printed value, drawn beside it with another marker; kNoValue
// where there is none.
double reading_of(const std::vector<ExitRow>& rows, const ExitRow& row) {
  for (const ExitRow& other : rows)
    if (other.model == row.model && other.technique.starts_with(row.technique + ".read_as_"))
      return other.paper_tokens_per_s;
  return kNoValue;
}

const char* short_status(const std::string& what) {
  if (what == "prediction") return "predicted";
  return what == "unexplained" ? "unexplained" : "input";
}

FigurePanel cells_panel(const std::vector<ExitRow>& rows, const std::string& model, bool latency) {
  FigurePanel panel{.title = model};
  panel.y.label = latency ? "inner-token latency (ms)" : "tokens/s";
  panel.y.low = 0;
  FigureSeries bars{
      .name = "simulated, host of full", .mark = SeriesMark::bars, .points = {}, .bar_width = 0.55};
  FigureSeries paper{.name = "paper, printed",
                     .role = SeriesRole::paper,
                     .mark = SeriesMark::points,
                     .points = {}};
  FigureSeries read{.name = "paper, 1777.96 read as 1177.96",
                    .role = SeriesRole::paper,
                    .mark = SeriesMark::points,
                    .style = 1,
                    .points = {}};
  double x = 0;
  double largest = 0;
  for (const ExitRow& row : rows) {
    if (row.model != model || is_second_reading(row.technique)) continue;
    const double scale = latency ? 1e3 : 1;
    const auto& runs = latency ? row.latency_s : row.tokens_per_s;
    const double printed = scale * (latency ? row.paper_latency_s : row.paper_tokens_per_s);
    bars.points.push_back(
        {.x = x, .y = runs[1] * scale, .low = runs[0] * scale, .high = runs[2] * scale});
    paper.points.push_back({.x = x, .y = printed});
    const double counted = latency ? kNoValue : reading_of(rows, row);
    if (std::isfinite(counted)) read.points.push_back({.x = x, .y = counted});
    const double top = std::max(printed, runs[2] * scale);
    if (!latency) panel.texts.push_back({.x = x, .y = top, .text = short_status(row.what)});
    largest = std::max(largest, top);
    panel.x.ticks.emplace_back(x, row.technique);
    x += 1;
  }
  show_bars(panel, x);
  panel.y.high = largest * 1.25;
  add_series(panel, std::move(bars));
  add_series(panel, std::move(paper));
  add_series(panel, std::move(read));
  return panel;
}

Figure cells_figure(const std::vector<ExitRow>& rows, bool latency) {
  Figure figure{
      .stem = latency ? "early_exit_fig2" : "early_exit_fig1",
      .where = latency ? "Figure 2" : "Figure 1",
      .caption =
          latency ? "Inner-token latency: sum of decoding latencies over tokens. Bars: served at "
                    "the printed concurrency with the host that `full` needs; hollow: as printed. "
                    "With tokens/s known, latency and sequences in flight are one number (Little's "
                    "law): a check of consistency, not of early exit."
                  : "Tokens/s. Bars: served at the printed concurrency with the host that `full` "
                    "needs (an input), whiskers: correlation of depths 0 to 1; hollow: as printed. "
                    "Predicted: near at every correlation of "
                    "depths, which says that this host suffices; unexplained: not near.",
      .width = kDoubleColumn,
      .panel_height = 1.5,
      .columns = 2,
      .panels = {}};
  std::vector<std::string> models;
  for (const ExitRow& row : rows)
    if (std::ranges::find(models, row.model) == models.end()) models.push_back(row.model);
  for (const std::string& model : models)
    figure.panels.push_back(cells_panel(rows, model, latency));
  return figure;
}

// The ways of an engine figure, in the order of their styles.
constexpr std::array<const char*, 6> kWays{"static-half",         "softmax, all rows",
                                           "state, all rows",     "classifier, all rows",
                                           "state, per sequence", "state, spread 3"};

Figure engine_figure(const std::vector<BatchSweepRow>& rows, const std::string& id) {
  std::string stem = "early_exit_engine_" + id;
  std::ranges::replace(stem, '.', '_');
  std::ranges::replace(stem, '-', '_');
  Figure figure{
      .stem = stem,
      .caption = fmt::format("Beyond the paper: {} without a host, simulated: decode step of full "
                             "over that of each way, by the batch; by the correlation of exit "
                             "depths within a batch. Below 1 early exit loses.",
                             id),
      .width = kDoubleColumn,
      .panel_height = 1.5,
      .columns = 3,
      .panels = {}};
  std::vector<double> correlations;
  std::vector<double> batches;
  double largest = 0;
  for (const BatchSweepRow& row : rows) {
    if (std::ranges::find(correlations, row.correlation) == correlations.end())
      correlations.push_back(row.correlation);
    if (std::ranges::find(batches, row.batch) == batches.end()) batches.push_back(row.batch);
    largest = std::max(largest, row.speedup);
  }
  for (const double correlation : correlations) {
    FigurePanel panel{.title = fmt::format("correlation {:g}", correlation)};
    panel.x = {.label = "batch",
               .log_base = 2,
               .low = batches.front() / 1.1,
               .high = batches.back() * 1.1};
    panel.x.ticks = value_ticks(batches);
    panel.y = {.label = "speed-up over full", .low = 0, .high = std::ceil(largest * 5) / 5};
    add_series(panel, {.role = SeriesRole::guide,
                       .points = {{.x = batches.front(), .y = 1}, {.x = batches.back(), .y = 1}}});
    for (std::size_t w = 0; w < kWays.size(); ++w) {
      FigureSeries series{.name = kWays[w], .style = w, .points = {}};
      for (const BatchSweepRow& row : rows)
        if (row.way == kWays[w] && row.correlation == correlation && row.speedup > 0)
          series.points.push_back({.x = row.batch, .y = row.speedup});
      add_series(panel, std::move(series));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

}  // namespace

std::vector<Figure> exit_figures(const PaperReport& report) {
  const std::vector<ExitRow> rows = exit_rows(report.sections, "early_exit");
  if (rows.empty()) return {};
  return {cells_figure(rows, false), cells_figure(rows, true)};
}

std::vector<Figure> engine_figures(const PaperReport& report) {
  const std::string prefix = "early_exit.engine.";
  std::vector<Figure> out;
  for (const ReportSection& section : report.sections)
    if (section.id.starts_with(prefix))
      out.push_back(engine_figure(engine_rows(report.sections, section.id),
                                  section.id.substr(prefix.size())));
  return out;
}

}  // namespace tiersim
