#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/comparisons/curves_result.hpp"
#include "reports/studies/columns.hpp"
#include "sim/base/check.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

std::string heading(const CurvesResult& r) {
  return (r.curves.where.empty() ? "" : r.curves.where + ": ") + r.curves.title;
}

double metric(const CurvesResult& r, const CurvePoint& point) {
  return point.record ? point.record->metrics.at(r.curves.metric).value : 0;
}

// "H": a letter for each limit, so that a table of many points stays readable.
char letter(const std::string& limit) {
  if (limit == "HBM") return 'H';
  if (limit == "FLOP") return 'F';
  if (limit == "capacity") return 'C';
  if (limit == "all-reduce") return 'A';
  if (limit == "host") return 'S';
  if (limit == "launch") return 'L';
  return 'K';
}
constexpr const char* kLetters =
    "limit: H HBM, F FLOP, C capacity (weights that the batch shares), A all-reduce, S host, L "
    "launch, K link";

std::string shown(const CurvePoint& point, double value) {
  if (!point.record) return "-";
  return fmt::format("{} {}",
                     value >= 100    ? fmt::format("{:.0f}", value)
                     : value >= 0.01 ? fmt::format("{:.2f}", value)
                                     : fmt::format("{:.2e}", value),
                     letter(limit_of(*point.record)));
}

// Machines by values: the first way's metric, then the others' ratios to it.
Table ratio_table(const CurvesResult& r, std::size_t which) {
  const CurveCase& one = r.curves.cases[which];
  Table table{.title = fmt::format("{}, {}: {} of {}, ratios to it of the others", heading(r),
                                   one.label, r.curves.metric, one.ways.front().label),
              .columns = {{"machine", Align::left}, {"way", Align::left}}};
  for (const std::int64_t context : r.curves.contexts)
    table.columns.push_back({fmt::format("{}", context)});
  for (std::size_t m = 0; m < r.machines.size(); ++m)
    for (std::size_t w = 0; w < one.ways.size(); ++w) {
      std::vector<std::string> row{r.machines[m], one.ways[w].label};
      for (std::size_t v = 0; v < r.curves.contexts.size(); ++v) {
        const CurvePoint& point = r.at(m, which, v, w);
        row.push_back(shown(point, w == 0 ? metric(r, point) : r.ratio(m, which, v, w)));
      }
      table.add(std::move(row));
    }
  table.notes = r.curves.notes;
  table.notes.emplace_back(kLetters);
  return table;
}

const std::vector<std::string>& phases() {
  static const std::vector<std::string> names(kPhaseNames.begin(), kPhaseNames.end());
  return names;
}

double phase_seconds(const RunRecord& record, const std::string& phase) {
  const auto at = std::ranges::find(record.phases, phase, &TimeShare::name);
  return at == record.phases.end() ? 0 : at->seconds;
}

Table raw_points(const CurvesResult& r) {
  Table table{.title = r.curves.title};
  for (const char* title : {"machine", "case", "way", "limit", "problem"})
    table.columns.push_back({title, Align::left});
  for (const std::string& title :
       {std::string("context"), std::string("batch"), r.curves.metric, std::string("ratio")})
    table.columns.push_back({title});
  for (const std::string& phase : phases()) table.columns.push_back({phase + " [s]"});
  for (std::size_t m = 0; m < r.machines.size(); ++m)
    for (std::size_t c = 0; c < r.curves.cases.size(); ++c)
      for (std::size_t v = 0; v < r.curves.contexts.size(); ++v)
        for (std::size_t w = 0; w < r.ways(c); ++w) {
          const CurvePoint& p = r.at(m, c, v, w);
          std::vector<std::string> row{r.machines[m],
                                       r.curves.cases[c].label,
                                       r.curves.cases[c].ways[w].label,
                                       p.record ? limit_of(*p.record) : "capacity",
                                       p.problem,
                                       fmt::format("{}", r.curves.contexts[v]),
                                       fmt::format("{}", p.batch),
                                       fmt::format("{}", metric(r, p)),
                                       fmt::format("{}", r.ratio(m, c, v, w))};
          for (const std::string& phase : phases())
            row.push_back(p.record ? fmt::format("{}", phase_seconds(*p.record, phase)) : "");
          table.add(std::move(row));
        }
  return table;
}

std::size_t way_of(const CurveCase& one, const std::string& label) {
  const auto at = std::ranges::find(one.ways, label, &StudyVariant::label);
  TS_EXPECTS(at != one.ways.end(), label, one.label);
  return static_cast<std::size_t>(at - one.ways.begin());
}

TargetResult checked(const CurvesResult& r, const CurveCheck& check) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (std::size_t m = 0; m < r.machines.size(); ++m) {
    if (!check.machine.empty() && r.machines[m] != check.machine) continue;
    for (std::size_t c = 0; c < r.curves.cases.size(); ++c) {
      const std::size_t way = way_of(r.curves.cases[c], check.way);
      const std::size_t than =
          check.other_way.empty() ? 0 : way_of(r.curves.cases[c], check.other_way);
      for (std::size_t v = 0; v < r.curves.contexts.size(); ++v) {
        if (r.curves.contexts[v] < check.from || r.curves.contexts[v] > check.to) continue;
        const double ratio = r.ratio(m, c, v, way, than);
        if (ratio == 0) continue;
        low = std::min(low, ratio);
        high = std::max(high, ratio);
      }
    }
  }
  const bool any = high > 0;
  const bool holds = any && (!check.at_least || low >= *check.at_least) &&
                     (!check.at_most || high <= *check.at_most);
  return {.id = check.id,
          .reading = "paper",
          .paper = check.at_least.value_or(check.at_most.value_or(0)),
          .simulated = check.at_least ? low : high,
          .unit = "ratio",
          .tolerance = 0,
          .status = holds ? "shape" : "fail",
          .why = fmt::format("{}; found {:.3f} to {:.3f}; {}", check.says, any ? low : 0, high,
                             check.why)};
}

// One result a case, of the machine that is nearest over all cases together.
void add_printed(const CurvesResult& r, const CurvePrinted& printed,
                 std::vector<TargetResult>& results) {
  const auto value = static_cast<std::size_t>(std::ranges::find(r.curves.contexts, printed.at) -
                                              r.curves.contexts.begin());
  TS_EXPECTS(value < r.curves.contexts.size(), printed.at);
  const auto off = [&](std::size_t m, std::size_t c) {
    const double ratio = r.ratio(m, c, value, way_of(r.curves.cases[c], printed.way));
    return std::abs(ratio / printed.paper - 1);
  };
  const auto worst = [&](std::size_t m) {
    double all = 0;
    for (std::size_t c = 0; c < r.curves.cases.size(); ++c) all = std::max(all, off(m, c));
    return all;
  };
  for (std::size_t c = 0; c < r.curves.cases.size(); ++c) {
    std::size_t best = 0;
    std::size_t near = 0;
    for (std::size_t m = 0; m < r.machines.size(); ++m) {
      if (off(m, c) < off(best, c)) best = m;
      if (off(m, c) <= printed.near) ++near;
    }
    results.push_back(
        {.id = printed.id + '.' + r.curves.cases[c].label,
         .reading = "paper",
         .paper = printed.paper,
         .simulated = r.ratio(best, c, value, way_of(r.curves.cases[c], printed.way)),
         .unit = "ratio",
         .tolerance = printed.near * printed.paper,
         .status = near > 0 ? "explained" : "unexplained",
         .why = fmt::format("{}; near on {} of {} machines, nearest on {} (worst case there {:.0f} "
                            "% off)",
                            printed.says, near, r.machines.size(), r.machines[best],
                            100 * worst(best))});
  }
}

Json points_json(const CurvesResult& r) {
  Json rows = Json::array();
  for (std::size_t m = 0; m < r.machines.size(); ++m)
    for (std::size_t c = 0; c < r.curves.cases.size(); ++c)
      for (std::size_t v = 0; v < r.curves.contexts.size(); ++v)
        for (std::size_t w = 0; w < r.ways(c); ++w) {
          const CurvePoint& p = r.at(m, c, v, w);
          Json row{{"machine", r.machines[m]},
                   {"case", r.curves.cases[c].label},
                   {"way", r.curves.cases[c].ways[w].label},
                   {"context", r.curves.contexts[v]},
                   {"batch", p.batch}};
          if (!p.record) {
            row["limit"] = "capacity";
            row["problem"] = p.problem;
          } else {
            row[r.curves.metric] = metric(r, p);
            row["ratio"] = r.ratio(m, c, v, w);
            row["limit"] = limit_of(*p.record);
            for (const TimeShare& phase : p.record->phases)
              row["phases_s"][phase.name] = phase.seconds;
            row["run_id"] = p.record->run_id;
          }
          rows.push_back(std::move(row));
        }
  return rows;
}

}  // namespace

const CurvePoint& CurvesResult::at(std::size_t machine, std::size_t which, std::size_t value,
                                   std::size_t way) const {
  std::size_t before = 0;  // points of the cases before this one, on one machine
  std::size_t all = 0;
  for (std::size_t c = 0; c < curves.cases.size(); ++c) {
    if (c < which) before += curves.contexts.size() * ways(c);
    all += curves.contexts.size() * ways(c);
  }
  return points[machine * all + before + value * ways(which) + way];
}

double CurvesResult::ratio(std::size_t machine, std::size_t which, std::size_t value,
                           std::size_t way, std::size_t than) const {
  const double mine = metric(*this, at(machine, which, value, way));
  const double other = metric(*this, at(machine, which, value, than));
  if (mine == 0 || other == 0) return 0;
  return curves.lower_is_better ? other / mine : mine / other;
}

ReportSection section_of(const CurvesResult& r) {
  ReportSection section{.id = r.curves.id};
  const std::string stem = r.curves.id.substr(r.curves.id.find('.') + 1);
  for (std::size_t c = 0; c < r.curves.cases.size(); ++c)
    section.tables.push_back({stem + '_' + r.curves.cases[c].label, ratio_table(r, c), {}, true});
  section.tables.push_back({stem, raw_points(r), {}, false});
  for (const CurvePrinted& printed : r.curves.printed) add_printed(r, printed, section.results);
  for (const CurveCheck& check : r.curves.checks) section.results.push_back(checked(r, check));
  section.json =
      Json{{"id", r.curves.id},         {"title", r.curves.title}, {"where", r.curves.where},
           {"metric", r.curves.metric}, {"class", "assumed"},      {"points", points_json(r)},
           {"notes", r.curves.notes}}
          .dump();
  return section;
}

}  // namespace tiersim
