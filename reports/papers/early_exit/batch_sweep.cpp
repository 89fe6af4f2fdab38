#include "reports/papers/early_exit/batch_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/render/figure_svg.hpp"
#include "sim/base/check.hpp"

namespace tiersim {

double BatchSweepResult::speedup(std::size_t correlation, std::size_t batch, std::size_t which,
                                 std::size_t than) const {
  const ExitPoint& one = at(correlation, batch, which);
  const ExitPoint& other = at(correlation, batch, than);
  return one.step_s > 0 && other.step_s > 0 ? other.step_s / one.step_s : 0;
}

namespace {

using Json = nlohmann::ordered_json;

// File stem of an engine: "engine" and the last part of "early_exit.engine.t5-v1.1-small".
std::string stem_of(const BatchSweep& engine) {
  std::string stem = engine.id.substr(engine.id.find('.') + 1);
  std::ranges::replace(stem, '.', '_');
  std::ranges::replace(stem, '-', '_');
  return stem;
}

std::size_t index_of(const BatchSweep& engine, const std::string& label) {
  const auto at = std::ranges::find(engine.cases, label, &ExitCase::label);
  TS_EXPECTS(at != engine.cases.end(), label);
  return static_cast<std::size_t>(at - engine.cases.begin());
}

bool varies(const ExitCase& one) {
  return measures(one.exit.technique);
}

// The batches at which a step is faster than that of the first case: "1 to 16", "1 to 4, 64",
// "nowhere".
std::string where_it_pays(const BatchSweepResult& r, std::size_t correlation, std::size_t which) {
  const auto& batches = r.engine.batches;
  const auto pays = [&](std::size_t b) { return r.speedup(correlation, b, which) > 1; };
  std::string out;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    if (!pays(b)) continue;
    std::size_t last = b;
    while (last + 1 < batches.size() && pays(last + 1)) ++last;
    out += fmt::format("{}{}", out.empty() ? "" : ", ", batches[b]);
    if (last > b) out += fmt::format(" to {}", batches[last]);
    b = last;
  }
  return out.empty() ? "nowhere" : out;
}

void add_batch_columns(const BatchSweepResult& r, Table& table) {
  for (const std::int64_t batch : r.engine.batches)
    table.columns.push_back({fmt::format("B = {}", batch)});
}

Table speedup_table(const BatchSweepResult& r) {
  Table table{.title = fmt::format("{}: time of a decode step of {} over that of each way",
                                   r.engine.title, r.engine.cases.front().label),
              .columns = {{"way", Align::left}, {"correlation"}},
              .readers = Readers::people};
  add_batch_columns(r, table);
  table.columns.push_back({"pays at B", Align::left});
  std::vector<std::string> base{r.engine.cases.front().label + " [ms]", ""};
  for (std::size_t b = 0; b < r.engine.batches.size(); ++b)
    base.push_back(r.at(0, b, 0).problem.empty() ? fmt::format("{:.3f}", 1e3 * r.at(0, b, 0).step_s)
                                                 : "-");
  base.emplace_back("");
  table.add(std::move(base));
  for (std::size_t k = 1; k < r.engine.cases.size(); ++k)
    for (std::size_t c = 0; c < r.engine.correlations.size(); ++c) {
      if (c > 0 && !varies(r.engine.cases[k])) break;
      std::vector<std::string> row{
          r.engine.cases[k].label,
          varies(r.engine.cases[k]) ? fmt::format("{}", r.engine.correlations[c]) : "any"};
      for (std::size_t b = 0; b < r.engine.batches.size(); ++b) {
        const double speedup = r.speedup(c, b, k);
        row.push_back(speedup == 0 ? "-" : fmt::format("{:.2f}", speedup));
      }
      row.push_back(where_it_pays(r, c, k));
      table.add(std::move(row));
    }
  table.notes = r.engine.notes;
  return table;
}

// The exit rate of a batch, which falls with its size under Algorithm 1.
Table rate_table(const BatchSweepResult& r) {
  Table table{.title = fmt::format("{}: share of the layers that a batch skips", r.engine.title),
              .columns = {{"way", Align::left}, {"correlation"}, {"of a token"}}};
  add_batch_columns(r, table);
  for (std::size_t k = 1; k < r.engine.cases.size(); ++k) {
    if (!varies(r.engine.cases[k]) || !r.engine.cases[k].set.empty() ||
        r.engine.cases[k].exit.rule != ExitRule::all_rows)
      continue;
    for (std::size_t c = 0; c < r.engine.correlations.size(); ++c) {
      const auto& depths = r.engine.cases[k].exit.depths;
      std::vector<std::string> row{
          r.engine.cases[k].label, fmt::format("{}", r.engine.correlations[c]),
          depths && depths->exit_rate ? fmt::format("{:.3f}", *depths->exit_rate) : "-"};
      for (std::size_t b = 0; b < r.engine.batches.size(); ++b)
        row.push_back(
            r.at(c, b, k).problem.empty()
                ? fmt::format("{:.3f}", 1 - r.at(c, b, k).layers / static_cast<double>(r.layers))
                : "-");
      table.add(std::move(row));
    }
  }
  return table;
}

// True where two ways differ only in the rule by which a batch exits.
bool same_tokens(const ExitCase& a, const ExitCase& b) {
  return a.exit.technique == b.exit.technique && a.set == b.set &&
         a.exit.depths.has_value() == b.exit.depths.has_value() &&
         (!a.exit.depths || (a.exit.depths->exit_rate == b.exit.depths->exit_rate &&
                             a.exit.depths->spread == b.exit.depths->spread &&
                             a.exit.depths->decay == b.exit.depths->decay));
}

// The rule with the shortest step for the same tokens; ties go to the first.
std::string fastest_rule(const BatchSweepResult& r, std::size_t correlation, std::size_t batch,
                         std::size_t first) {
  std::size_t best = first;
  for (std::size_t k = first + 1; k < r.engine.cases.size(); ++k)
    if (same_tokens(r.engine.cases[first], r.engine.cases[k]) &&
        r.speedup(correlation, batch, k) > r.speedup(correlation, batch, best))
      best = k;
  if (r.speedup(correlation, batch, best) == 0) return "-";
  const auto rule = static_cast<std::size_t>(r.engine.cases[best].exit.rule);
  return std::string(kExitRuleNames.at(rule));
}

// The fastest rule at each point, for tokens that more than one way has.
Table rule_table(const BatchSweepResult& r) {
  Table table{.title = fmt::format("{}: the rule whose decode step is shortest", r.engine.title),
              .columns = {{"tokens of", Align::left}, {"correlation"}}};
  add_batch_columns(r, table);
  const auto& cases = r.engine.cases;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const auto like = [&](const ExitCase& one) { return same_tokens(cases[k], one); };
    const auto first = static_cast<std::size_t>(std::ranges::find_if(cases, like) - cases.begin());
    if (first != k || std::ranges::count_if(cases, like) < 2) continue;
    for (std::size_t c = 0; c < r.engine.correlations.size(); ++c) {
      std::vector<std::string> row{cases[k].label, fmt::format("{}", r.engine.correlations[c])};
      for (std::size_t b = 0; b < r.engine.batches.size(); ++b)
        row.push_back(fastest_rule(r, c, b, k));
      table.add(std::move(row));
    }
  }
  return table;
}

Table all_points(const BatchSweepResult& r) {
  Table table{.title = r.engine.title,
              .columns = {{"way", Align::left},
                          {"correlation"},
                          {"batch"},
                          {"step_s"},
                          {"speedup"},
                          {"tokens_per_s"},
                          {"layers"},
                          {"problem", Align::left}},
              .readers = Readers::csv};
  for (std::size_t c = 0; c < r.engine.correlations.size(); ++c)
    for (std::size_t b = 0; b < r.engine.batches.size(); ++b)
      for (std::size_t k = 0; k < r.engine.cases.size(); ++k) {
        const ExitPoint& p = r.at(c, b, k);
        table.add({r.engine.cases[k].label, r.engine.correlations[c], r.engine.batches[b], p.step_s,
                   r.speedup(c, b, k), p.tokens_per_s, p.layers, p.problem});
      }
  return table;
}

TargetResult checked(const BatchSweepResult& r, const ExitCheck& check) {
  const std::size_t which = index_of(r.engine, check.of_case);
  const std::size_t than = check.than.empty() ? 0 : index_of(r.engine, check.than);
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  int points = 0;
  for (std::size_t c = 0; c < r.engine.correlations.size(); ++c) {
    if (check.correlation && r.engine.correlations[c] != *check.correlation) continue;
    for (std::size_t b = 0; b < r.engine.batches.size(); ++b) {
      if (r.engine.batches[b] < check.from || r.engine.batches[b] > check.to) continue;
      const double speedup = r.speedup(c, b, which, than);
      if (speedup == 0) continue;
      low = std::min(low, speedup);
      high = std::max(high, speedup);
      ++points;
    }
  }
  const bool holds = points > 0 && (!check.at_least || low >= *check.at_least) &&
                     (!check.at_most || high <= *check.at_most);
  return {.id = check.id,
          .reading = "first_principles",
          .paper = check.at_least.value_or(check.at_most.value_or(0)),
          .simulated = points == 0      ? 0
                       : check.at_least ? low
                                        : high,
          .unit = "ratio",
          .tolerance = 0,
          .status = holds ? "shape" : "fail",
          .why = fmt::format("{}; found {:.3f} to {:.3f} at {} points; {}", check.says,
                             points == 0 ? 0 : low, high, points, check.why)};
}

ReportFile figure(const BatchSweepResult& r) {
  Figure out{.title = r.engine.title,
             .subtitle = fmt::format("time of a decode step of {} over that of each way",
                                     r.engine.cases.front().label),
             .columns = 3,
             .common_y = true,
             .panels = {}};
  for (std::size_t c = 0; c < r.engine.correlations.size(); ++c) {
    FigurePanel panel{.title = fmt::format("correlation {}", r.engine.correlations[c]),
                      .x = {.label = "sequences that decode together", .log_base = 2},
                      .y = {.label = "speed-up"}};
    for (std::size_t k = 1; k < r.engine.cases.size(); ++k) {
      FigureSeries series{.name = r.engine.cases[k].label, .points = {}};
      for (std::size_t b = 0; b < r.engine.batches.size(); ++b) {
        const double speedup = r.speedup(c, b, k);
        series.points.push_back({.x = static_cast<double>(r.engine.batches[b]),
                                 .y = speedup == 0 ? kNoValue : speedup});
      }
      panel.series.push_back(std::move(series));
    }
    out.panels.push_back(std::move(panel));
  }
  number_styles(out);
  return {stem_of(r.engine) + ".svg", to_svg(out)};
}

Json to_json(const BatchSweepResult& r) {
  Json out = Json::array();
  for (std::size_t c = 0; c < r.engine.correlations.size(); ++c)
    for (std::size_t b = 0; b < r.engine.batches.size(); ++b)
      for (std::size_t k = 0; k < r.engine.cases.size(); ++k) {
        const ExitPoint& p = r.at(c, b, k);
        Json row{{"way", r.engine.cases[k].label},
                 {"correlation", r.engine.correlations[c]},
                 {"batch", r.engine.batches[b]}};
        if (!p.problem.empty()) {
          row["problem"] = p.problem;
        } else {
          row["step_s"] = p.step_s;
          row["speedup"] = r.speedup(c, b, k);
          row["tokens_per_s"] = p.tokens_per_s;
          row["layers"] = p.layers;
          row["exit_rate"] = 1 - p.layers / static_cast<double>(r.layers);
        }
        out.push_back(std::move(row));
      }
  return out;
}

}  // namespace

ReportSection section_of(const BatchSweepResult& result) {
  const std::string stem = stem_of(result.engine);
  ReportSection section{.id = result.engine.id};
  section.add(stem, speedup_table(result), result.engine.digest);
  section.add(stem, all_points(result));
  section.add(stem + "_rates", rate_table(result), result.engine.digest);
  if (Table rules = rule_table(result); !rules.rows.empty())
    section.add(stem + "_rules", std::move(rules), true);
  for (const ExitCheck& check : result.engine.checks)
    section.results.push_back(checked(result, check));
  section.figures.push_back(figure(result));
  section.json = to_json(result).dump();
  return section;
}

}  // namespace tiersim
