#include <algorithm>

#include <nlohmann/json.hpp>

#include "reports/papers/maps/win_map_view.hpp"
#include "sim/base/check.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

// Winners by panel, batch and context.
Json winners_json(const WinMap& map, const WinMapView& view) {
  Json panels = Json::array();
  for (std::size_t r = 0; r < map.rows.size(); ++r)
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      Json batches = Json::array();
      for (std::size_t b = 0; b < map.batches.size(); ++b) {
        Json cells = Json::array();
        for (std::size_t x = 0; x < map.contexts.size(); ++x) {
          const auto won = view.win(r, c, b, x);
          cells.push_back(won ? Json(map.ways[won->way].label) : Json(nullptr));
        }
        batches.push_back(std::move(cells));
      }
      panels.push_back({{"row", map.rows[r].label},
                        {"column", map.columns[c].label},
                        {"winners", std::move(batches)}});
    }
  return panels;
}

Json rates_json(const WinMapResult& result) {
  Json ways = Json::object();
  for (std::size_t w = 0; w < result.map.ways.size(); ++w) {
    Json panels = Json::array();
    for (const auto& row : result.rates)
      for (const auto& panel : row) {
        Json batches = Json::array();
        for (const auto& across : panel) {
          Json cells = Json::array();
          for (const CellRates& cell : across)
            cells.push_back(cell[w] ? Json(*cell[w]) : Json(nullptr));
          batches.push_back(std::move(cells));
        }
        panels.push_back(std::move(batches));
      }
    ways[result.map.ways[w].label] = std::move(panels);
  }
  return ways;
}

void add(const WinMapView& view, ReportSection& section) {
  const std::string stem = view.stem();
  section.add(stem + "_counts", view.counts(), true);
  section.add(stem + "_leads", view.leads(), true);
  section.add(stem, view.winners());
  section.add(stem, view.rates());
  section.figures.push_back({.name = stem + ".svg", .text = view.figure()});
}

}  // namespace

ReportSection section_of(const WinMapResult& result) {
  const WinMap& map = result.map;
  ReportSection section{.id = map.id};
  const WinMapView whole(result, {});
  add(whole, section);
  Json json{{"title", map.title},
            {"unit", "tokens/s"},
            {"contexts", map.contexts},
            {"batches", map.batches},
            {"panels", winners_json(map, whole)},
            {"tokens_per_s_by_panel_batch_context", rates_json(result)}};
  if (!map.without.empty()) {
    const auto left_out = std::ranges::find(map.ways, map.without, &MapWay::label);
    TS_EXPECTS(left_out != map.ways.end(), map.without);
    const WinMapView second(result, static_cast<std::size_t>(left_out - map.ways.begin()));
    add(second, section);
    json["panels_without"] = {{"way", map.without}, {"panels", winners_json(map, second)}};
  }
  section.json = json.dump();
  return section;
}

}  // namespace tiersim
