// MAPLE's Table 1 as a figure: footprint and traffic of each method in both readings, beside the
// printed values. TPLA's cache and heads on one GPU in the same form.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "reports/papers/figures/paper_figures.hpp"

namespace tiersim {
namespace {

// One group of bars: a row of the table in both readings.
struct Place {
  std::string model;
  std::string method;
  std::map<Reading, TargetResult> results;
};

// Rows of the table that have a cell `.quantity`, by id, in the order of the targets.
std::vector<Place> places_of(const PaperReport& report, const std::string& prefix,
                             const std::string& quantity) {
  std::vector<std::pair<std::string, Place>> out;
  for (const ReproducedRow& row : report.rows)
    for (const TargetResult& cell : row.cells) {
      if (!cell.id.starts_with(prefix) || !cell.id.ends_with(quantity)) continue;
      auto at = std::ranges::find(out, cell.id, &std::pair<std::string, Place>::first);
      if (at == out.end())
        at = out.insert(out.end(), {cell.id, {row.target.label, row.target.method, {}}});
      at->second.results.emplace(row.target.reading, cell);
    }
  std::vector<Place> places;
  for (auto& [id, place] : out) places.push_back(std::move(place));
  return places;
}

// "SparQ" from "SparQ (r = 2)", short enough to stand below a bar.
std::string short_name(const std::string& method) {
  return method.substr(0, method.find(" ("));
}

// Bars of the readings side by side, and hollow markers for printed values. A star marks a printed
// value that contradicts the paper's own numbers.
FigurePanel bars_panel(const std::vector<Place>& places, std::string label) {
  FigurePanel panel{};
  panel.y.label = std::move(label);
  panel.y.low = 0;
  FigureSeries paper{.name = "paper, printed",
                     .role = SeriesRole::paper,
                     .mark = SeriesMark::points,
                     .points = {}};
  FigureSeries simulated{.name = "simulated, paper's assumptions",
                         .mark = SeriesMark::bars,
                         .points = {},
                         .bar_width = 0.38};
  FigureSeries principles{.name = "simulated, first principles",
                          .role = SeriesRole::first_principles,
                          .mark = SeriesMark::bars,
                          .points = {},
                          .bar_width = 0.38};
  double x = 0;
  double largest = 0;
  const std::string* model = nullptr;
  for (const Place& place : places) {
    if (model != nullptr && *model != place.model) x += 0.5;
    model = &place.model;
    panel.x.ticks.emplace_back(x, short_name(place.method));
    double top = 0;
    bool contradicts = false;
    for (const auto& [reading, cell] : place.results) {
      const bool as_printed = reading == Reading::paper;
      const double beside = place.results.size() == 1 ? 0 : 0.2;
      (as_printed ? simulated : principles)
          .points.push_back({.x = as_printed ? x - beside : x + beside, .y = cell.simulated});
      if (as_printed || place.results.size() == 1)
        paper.points.push_back({.x = x - beside, .y = cell.paper});
      contradicts = contradicts || cell.status == "rule";
      top = std::max({top, cell.simulated, cell.paper});
    }
    if (contradicts) panel.texts.push_back({.x = x, .y = top, .text = "*"});
    largest = std::max(largest, top);
    x += 1;
  }
  show_bars(panel, x);
  panel.y.high = largest * 1.15;
  if (!panel.texts.empty()) paper.name += " (* contradicts itself)";
  add_series(panel, std::move(simulated));
  add_series(panel, std::move(principles));
  add_series(panel, std::move(paper));
  return panel;
}

// Names of the models on a second line, centred below their methods. The name joins the label of
// the middle method where there is one, since gnuplot draws one tick at a position.
void name_models(FigurePanel& panel, const std::vector<Place>& places) {
  const auto methods = panel.x.ticks;
  for (std::size_t i = 0; i < places.size();) {
    std::size_t end = i;
    while (end < places.size() && places[end].model == places[i].model) ++end;
    if ((end - i) % 2 == 1)
      panel.x.ticks[i + (end - i) / 2].second += '\n' + places[i].model;
    else
      panel.x.ticks.emplace_back((methods[i].first + methods[end - 1].first) / 2,
                                 '\n' + places[i].model);
    i = end;
  }
}

}  // namespace

std::vector<Figure> table_figures(const PaperReport& report) {
  Figure figure{.stem = "maple_table1",
                .where = "Table 1",
                .caption =
                    "KV footprint and load of a step, batch 128 at 8192 positions. Bars: simulated "
                    "under the paper's assumptions (head dimension 160 for LLaMA2-13B) and from "
                    "published dimensions (128); hollow: as printed. A star marks what contradicts "
                    "the paper's own other numbers; the tables say how.",
                .width = kDoubleColumn,
                .columns = 2,
                .panels = {}};
  for (const auto& [quantity, label] : {std::pair{".footprint", "KV footprint (GiB)"},
                                        std::pair{".load", "loaded from the pool (GiB)"}}) {
    const std::vector<Place> places = places_of(report, "maple.table1.", quantity);
    if (places.empty()) continue;
    figure.panels.push_back(bars_panel(places, label));
    name_models(figure.panels.back(), places);
  }
  return {figure};
}

std::vector<Figure> latent_figures(const PaperReport& report) {
  Figure figure{
      .stem = "tpla_per_device",
      .where = "Sections 1 and 5.4.1",
      .caption =
          "What one GPU caches of a token in a layer, and its query heads. Bars: simulated; "
          "hollow: as printed.",
      .width = kDoubleColumn,
      .panel_height = 1.3,
      .columns = 2,
      .panels = {}};
  for (const auto& [prefix, label] :
       {std::pair{"tpla.kv_per_device.", "elements a token and layer"},
        std::pair{"tpla.heads_per_device.", "query heads a GPU"}}) {
    std::vector<Place> places = places_of(report, prefix, "");
    if (places.empty()) continue;
    for (Place& place : places) place.method = place.method.substr(0, place.method.find(' '));
    figure.panels.push_back(bars_panel(places, label));
    name_models(figure.panels.back(), places);
  }
  return {figure};
}

}  // namespace tiersim
