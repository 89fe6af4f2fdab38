#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/papers/comparisons/grid_result.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

// Tolerance of a product of six factors against its ratio.
constexpr double kProductTolerance = 1e-6;

std::vector<std::string> choice_names(const GridResult& r, const GridCell& cell) {
  const SpeedupGrid& g = r.grid;
  return {r.machines[cell.machine],
          g.tiles[cell.tiles].label,
          std::string(kRegionNames[static_cast<std::size_t>(g.regions[cell.region])]),
          std::string(kOutputProjectionNames[static_cast<std::size_t>(
              g.output_projections[cell.output_projection])]),
          g.batches[cell.batch].label,
          g.hosts[cell.host].label};
}

constexpr std::array kChoiceTitles{"machine",           "tiles", "region",
                                   "output projection", "batch", "host"};

std::string_view limit(const StepRate& rate) {
  return kStepLimitNames[static_cast<std::size_t>(rate.limit)];
}

double product(const Speedup& s) {
  double all = 1;
  for (const double factor : s.factors) all *= factor;
  return all;
}

Table all_cells(const GridResult& r) {
  Table table{.title = r.grid.title, .readers = Readers::csv};
  for (const char* title : kChoiceTitles) table.columns.push_back({title, Align::left});
  for (const char* title : {"case", "base limit", "other limit"})
    table.columns.push_back({title, Align::left});
  for (const char* title :
       {"ratio", "base batch", "other batch", "base tokens/s", "other tokens/s"})
    table.columns.push_back({title});
  for (const std::string_view name : kIngredientNames) table.columns.push_back({std::string(name)});
  for (const GridCell& cell : r.cells)
    for (std::size_t c = 0; c < cell.cases.size(); ++c) {
      if (!cell.cases[c]) continue;
      const Speedup& s = *cell.cases[c];
      const std::vector<std::string> choices = choice_names(r, cell);
      Row row(choices.begin(), choices.end());
      row.insert(row.end(),
                 {r.grid.cases[c].label, limit(s.base), limit(s.other), s.ratio, s.base.batch,
                  s.other.batch, s.base.tokens_per_s, s.other.tokens_per_s});
      row.insert(row.end(), s.factors.begin(), s.factors.end());
      table.add(std::move(row));
    }
  return table;
}

std::string case_names(const GridResult& r) {
  std::string out;
  for (const GridCase& c : r.grid.cases) out += (out.empty() ? "" : " / ") + c.label;
  return out;
}

// Machines by tiles and regions: least to largest ratio over all batches and hosts with the
// projection.
Table range_table(const GridResult& r, std::size_t which) {
  const SpeedupGrid& g = r.grid;
  Table table{.title = fmt::format("{}: {} (paper {:.2f}), least to largest over batch, host and "
                                   "output projection",
                                   g.title, g.cases[which].label, g.cases[which].paper),
              .columns = {{"machine", Align::left}, {"tiles", Align::left}}};
  for (const Region region : g.regions)
    table.columns.push_back({std::string(kRegionNames[static_cast<std::size_t>(region)])});
  for (std::size_t m = 0; m < r.machines.size(); ++m)
    for (std::size_t t = 0; t < g.tiles.size(); ++t) {
      std::vector<std::string> row{r.machines[m], g.tiles[t].label};
      for (std::size_t region = 0; region < g.regions.size(); ++region) {
        double low = 0;
        double high = 0;
        for (const GridCell& cell : r.cells) {
          if (cell.machine != m || cell.tiles != t || cell.region != region || !cell.cases[which])
            continue;
          const double ratio = cell.cases[which]->ratio;
          low = low == 0 ? ratio : std::min(low, ratio);
          high = std::max(high, ratio);
        }
        row.push_back(high == 0            ? "-"
                      : high - low < 0.005 ? fmt::format("{:.2f}", low)
                                           : fmt::format("{:.2f}-{:.2f}", low, high));
      }
      table.add(std::move(row));
    }
  return table;
}

double distance(const GridResult& r, const GridCell& cell) {
  double sum = 0;
  for (std::size_t c = 0; c < cell.cases.size(); ++c)
    sum += cell.cases[c] ? std::abs(cell.cases[c]->ratio / r.grid.cases[c].paper - 1) : 1;
  return sum;
}

// The narrowest distance that counts as near, to separate the cells that only a wider one includes.
double narrowest(const GridResult& r) {
  return std::ranges::min_element(r.grid.cases, {}, &GridCase::near)->near;
}

bool within(const GridResult& r, const GridCell& cell, double band) {
  for (std::size_t c = 0; c < cell.cases.size(); ++c)
    if (!cell.cases[c] || std::abs(cell.cases[c]->ratio / r.grid.cases[c].paper - 1) > band)
      return false;
  return true;
}

// The nearest cells, among those that explain the printed values where there are any.
std::vector<const GridCell*> nearest(const GridResult& r, std::size_t most) {
  std::vector<const GridCell*> out;
  for (const GridCell& cell : r.cells) out.push_back(&cell);
  std::ranges::stable_sort(out, {}, [&](const GridCell* cell) {
    return std::pair(!r.near_all(*cell), distance(r, *cell));
  });
  out.resize(std::min(out.size(), most));
  return out;
}

std::string factor_text(const Speedup& s) {
  std::string out;
  for (const double factor : s.factors)
    out += (out.empty() ? "" : " x ") + fmt::format("{:.3f}", factor);
  return out;
}

std::string factor_title() {
  std::string out;
  for (const std::string_view name : kIngredientNames)
    out += (out.empty() ? "" : " x ") + std::string(name);
  return out;
}

void add_factor_rows(const GridResult& r, const GridCell& cell, Table& table) {
  for (std::size_t c = 0; c < cell.cases.size(); ++c) {
    if (!cell.cases[c]) continue;
    const Speedup& s = *cell.cases[c];
    std::vector<std::string> row = choice_names(r, cell);
    for (std::string text :
         {r.grid.cases[c].label, fmt::format("{:.3f}", s.ratio),
          std::string(r.near(cell, c) ? "near" : ""),
          fmt::format("{} -> {}", s.base.batch, s.other.batch),
          fmt::format("{} -> {}", limit(s.base), limit(s.other)), factor_text(s)})
      row.push_back(std::move(text));
    table.add(std::move(row));
  }
}

Table factor_table(const GridResult& r, std::string title,
                   const std::vector<const GridCell*>& cells) {
  Table table{.title = std::move(title)};
  for (const char* name : kChoiceTitles) table.columns.push_back({name, Align::left});
  table.columns.push_back({"case", Align::left});
  for (const char* name : {"ratio", "paper", "batch"}) table.columns.push_back({name});
  table.columns.push_back({"limit", Align::left});
  table.columns.push_back({factor_title()});
  for (const GridCell* cell : cells) add_factor_rows(r, *cell, table);
  table.notes = r.grid.notes;
  return table;
}

// How often each choice is in the cells that are near all printed values. The cells are declared
// choices, so these counts are not probabilities.
Table common_table(const GridResult& r) {
  Table table{.title = r.grid.title + ": what the cells that are near all have in common",
              .columns = {{"of", Align::left},
                          {"choice", Align::left},
                          {"near all"},
                          {fmt::format("all within {:g} %", 100 * narrowest(r))},
                          {"of"}}};
  std::vector<std::array<std::string, 2>> choices;  // in the order of the grid
  std::vector<std::array<std::size_t, 3>> counts;
  for (std::size_t axis = 0; axis < kChoiceTitles.size(); ++axis)
    for (const GridCell& cell : r.cells) {
      const std::array choice{std::string(kChoiceTitles[axis]), choice_names(r, cell)[axis]};
      auto at = static_cast<std::size_t>(std::ranges::find(choices, choice) - choices.begin());
      if (at == choices.size()) {
        choices.push_back(choice);
        counts.push_back({0, 0, 0});
      }
      if (r.near_all(cell)) ++counts[at][0];
      if (within(r, cell, narrowest(r))) ++counts[at][1];
      ++counts[at][2];
    }
  for (std::size_t i = 0; i < choices.size(); ++i)
    table.add({choices[i][0], choices[i][1], fmt::format("{}", counts[i][0]),
               fmt::format("{}", counts[i][1]), fmt::format("{}", counts[i][2])});
  return table;
}

const GridCell& find_known(const GridResult& r, const KnownCell& known) {
  const std::vector<std::string> wanted{
      known.machine,
      known.tiles,
      std::string(kRegionNames[static_cast<std::size_t>(known.region)]),
      std::string(kOutputProjectionNames[static_cast<std::size_t>(known.output_projection)]),
      known.batch,
      known.host};
  const auto at = std::ranges::find_if(
      r.cells, [&](const GridCell& cell) { return choice_names(r, cell) == wanted; });
  TS_EXPECTS(at != r.cells.end(), known.id);
  return *at;
}

std::vector<TargetResult> known_results(const GridResult& r) {
  std::vector<TargetResult> out;
  for (const KnownCell& known : r.grid.known) {
    const GridCell& cell = find_known(r, known);
    for (std::size_t c = 0; c < known.ratios.size(); ++c) {
      if (known.ratios[c] == 0) continue;
      const double found = cell.cases[c] ? cell.cases[c]->ratio : 0;
      const bool close = std::abs(found / known.ratios[c] - 1) <= known.tolerance;
      out.push_back({.id = known.id + '.' + r.grid.cases[c].label,
                     .reading = "first_principles",
                     .paper = known.ratios[c],
                     .simulated = found,
                     .unit = "ratio",
                     .tolerance = known.tolerance * known.ratios[c],
                     .status = known.approximate ? "consistency"
                               : close           ? "pass"
                                                 : "fail",
                     .why = known.why});
    }
  }
  return out;
}

// "1.2 to 1.89, none as large as printed": the range of the ratio, with a remark where no cell
// reaches the printed value.
std::string reach(const GridResult& r, std::size_t which) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const GridCell& cell : r.cells) {
    if (!cell.cases[which]) continue;
    low = std::min(low, cell.cases[which]->ratio);
    high = std::max(high, cell.cases[which]->ratio);
  }
  if (high == 0) return "none can run";
  const double paper = r.grid.cases[which].paper;
  return fmt::format("{:.3f} to {:.3f}{}", low, high,
                     high < paper  ? ", none as large as printed"
                     : low > paper ? ", none as small as printed"
                                   : "");
}

std::vector<TargetResult> printed_results(const GridResult& r) {
  const auto all =
      std::ranges::count_if(r.cells, [&](const GridCell& cell) { return r.near_all(cell); });
  const auto narrow = std::ranges::count_if(
      r.cells, [&](const GridCell& cell) { return within(r, cell, narrowest(r)); });
  const GridCell& best = *nearest(r, 1).front();
  std::string where;
  for (const std::string& name : choice_names(r, best)) where += (where.empty() ? "" : ", ") + name;
  std::vector<TargetResult> out;
  for (std::size_t c = 0; c < r.grid.cases.size(); ++c) {
    const GridCase& given = r.grid.cases[c];
    const auto alone =
        std::ranges::count_if(r.cells, [&](const GridCell& cell) { return r.near(cell, c); });
    out.push_back(
        {.id = r.grid.id + '.' + given.label,
         .reading = "paper",
         .paper = given.paper,
         .simulated = best.cases[c] ? best.cases[c]->ratio : 0,
         .unit = "ratio",
         .tolerance = given.near * given.paper,
         .status = all > 0 ? "explained" : "unexplained",
         .why = fmt::format("of {} cells {} are near this value, {} near all and {} within "
                            "{:g} % of all; ratios {}; the nearest: {}",
                            r.cells.size(), alone, all, narrow, 100 * narrowest(r), reach(r, c),
                            where)});
  }
  return out;
}

template <class List, class Value>
bool chosen(const List& list, const Value& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

bool belongs(const GridResult& r, const GridSubset& subset, const GridCell& cell) {
  return chosen(subset.machines, r.machines[cell.machine]) &&
         chosen(subset.tiles, r.grid.tiles[cell.tiles].label) &&
         chosen(subset.regions, r.grid.regions[cell.region]) &&
         chosen(subset.batches, r.grid.batches[cell.batch].label) &&
         chosen(subset.hosts, r.grid.hosts[cell.host].label);
}

// Adds the results of a subset: its cells near all printed values, and the range of its ratios.
void add_subset(const GridResult& r, const GridSubset& subset, std::vector<TargetResult>& results) {
  std::vector<const GridCell*> cells;
  for (const GridCell& cell : r.cells)
    if (belongs(r, subset, cell)) cells.push_back(&cell);
  const auto near =
      std::ranges::count_if(cells, [&](const GridCell* cell) { return r.near_all(*cell); });
  for (std::size_t c = 0; c < r.grid.cases.size(); ++c) {
    const GridCase& given = r.grid.cases[c];
    double low = 0;
    double high = 0;
    for (const GridCell* cell : cells) {
      if (!cell->cases[c]) continue;
      const double ratio = cell->cases[c]->ratio;
      low = low == 0 ? ratio : std::min(low, ratio);
      high = std::max(high, ratio);
    }
    results.push_back(
        {.id = subset.id + '.' + given.label,
         .reading = "paper",
         .paper = given.paper,
         .simulated = high,
         .unit = "ratio",
         .tolerance = given.near * given.paper,
         .status = near > 0 ? "explained" : "unexplained",
         .why = fmt::format("{}: {} of {} cells are near all; ratios {:.2f} to {:.2f}", subset.says,
                            near, cells.size(), low, high)});
  }
}

TargetResult product_result(const GridResult& r) {
  double worst = 0;
  for (const GridCell& cell : r.cells)
    for (const auto& s : cell.cases)
      if (s) worst = std::max(worst, std::abs(product(*s) / s->ratio - 1));
  return {.id = r.grid.id + ".factors",
          .reading = "first_principles",
          .paper = 0,
          .simulated = worst,
          .unit = "ratio",
          .tolerance = kProductTolerance,
          .status = worst <= kProductTolerance ? "pass" : "fail",
          .why = "largest relative difference between a ratio and the product of its factors"};
}

Json cells_json(const GridResult& r) {
  Json cells = Json::array();
  for (const GridCell& cell : r.cells) {
    const auto names = choice_names(r, cell);
    for (std::size_t c = 0; c < cell.cases.size(); ++c) {
      Json row = Json::object();
      for (std::size_t i = 0; i < names.size(); ++i) row[kChoiceTitles[i]] = names[i];
      row["case"] = r.grid.cases[c].label;
      if (!cell.cases[c]) {
        row["problem"] = "not even one sequence fits";
        cells.push_back(std::move(row));
        continue;
      }
      const Speedup& s = *cell.cases[c];
      row["ratio"] = s.ratio;
      row["near"] = r.near(cell, c);
      row["near_all"] = r.near_all(cell);
      for (const auto& [name, rate] : {std::pair{"base", &s.base}, std::pair{"other", &s.other}})
        row[name] = {
            {"batch", rate->batch}, {"tokens_per_s", rate->tokens_per_s}, {"limit", limit(*rate)}};
      for (std::size_t i = 0; i < s.factors.size(); ++i)
        row["factors"][std::string(kIngredientNames[i])] = s.factors[i];
      cells.push_back(std::move(row));
    }
  }
  return cells;
}

}  // namespace

bool GridResult::near(const GridCell& cell, std::size_t which) const {
  const GridCase& given = grid.cases[which];
  return cell.cases[which] && std::abs(cell.cases[which]->ratio / given.paper - 1) <= given.near;
}

bool GridResult::near_all(const GridCell& cell) const {
  for (std::size_t c = 0; c < grid.cases.size(); ++c)
    if (!near(cell, c)) return false;
  return true;
}

ReportSection section_of(const GridResult& r) {
  constexpr std::size_t kShownCells = 12;
  ReportSection section{.id = r.grid.id};
  std::string stem = r.grid.id.substr(r.grid.id.find('.') + 1);
  const auto all =
      std::ranges::count_if(r.cells, [&](const GridCell& cell) { return r.near_all(cell); });
  const std::string heading = (r.grid.where.empty() ? "" : r.grid.where + ": ") + r.grid.title;
  Table nearest_cells =
      factor_table(r,
                   fmt::format("{}: {} ({} of {} cells are near all; the nearest {})", heading,
                               case_names(r), all, r.cells.size(), kShownCells),
                   nearest(r, kShownCells));
  nearest_cells.readers = Readers::people;
  section.add(stem, std::move(nearest_cells), true);
  section.add(stem, all_cells(r));
  section.add(stem + "_common", common_table(r), true);
  for (std::size_t c = 0; c < r.grid.cases.size(); ++c)
    section.add(stem + "_" + r.grid.cases[c].label, range_table(r, c), true);
  std::vector<const GridCell*> known;
  for (const KnownCell& cell : r.grid.known) known.push_back(&find_known(r, cell));
  section.add(stem + "_factors", factor_table(r, heading + ": cells worked out by hand", known),
              true);
  section.results = printed_results(r);
  for (const GridSubset& subset : r.grid.subsets) add_subset(r, subset, section.results);
  for (TargetResult& result : known_results(r)) section.results.push_back(std::move(result));
  section.results.push_back(product_result(r));
  section.json = Json{{"id", r.grid.id},    {"title", r.grid.title},  {"where", r.grid.where},
                      {"class", "assumed"}, {"cells", cells_json(r)}, {"notes", r.grid.notes}}
                     .dump();
  return section;
}

}  // namespace tiersim
