#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/papers/comparisons/curves_result.hpp"
#include "reports/papers/studies/columns.hpp"
#include "reports/render/figure_svg.hpp"
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

// A letter for each limit ("H" for HBM), so that a table of many points stays readable.
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

// "-" where the point or its reference cannot run.
std::string shown(const CurvePoint& point, double value) {
  if (!point.record || value == 0) return "-";
  return fmt::format("{} {}",
                     value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}", value),
                     letter(limit_of(*point.record)));
}

// Machines by x values: the metric of the first way, then the ratios of the others to it.
Table ratio_table(const CurvesResult& r, std::size_t which) {
  const CurveCase& one = r.curves.cases[which];
  const bool time = r.curves.metric.ends_with("_s") && !r.curves.metric.ends_with("per_s");
  const double scale = time ? 1e3 : 1;
  Table table{
      .title = fmt::format("{}, {}: {}{} of {}, ratios to it of the others", heading(r), one.label,
                           r.curves.metric, time ? " in ms" : "", one.ways.front().label),
      .columns = {{"machine", Align::left}, {"way", Align::left}}};
  for (const std::int64_t context : r.curves.contexts)
    table.columns.push_back({fmt::format("{}", context)});
  for (std::size_t m = 0; m < r.machines.size(); ++m)
    for (std::size_t w = 0; w < one.ways.size(); ++w) {
      std::vector<std::string> row{r.machines[m], one.ways[w].label};
      for (std::size_t v = 0; v < r.curves.contexts.size(); ++v) {
        const CurvePoint& point = r.at(m, which, v, w);
        row.push_back(shown(point, w == 0 ? scale * metric(r, point) : r.ratio(m, which, v, w)));
      }
      table.add(std::move(row));
    }
  table.notes = r.curves.notes;
  table.notes.emplace_back(kLetters);
  return table;
}

double phase_seconds(const RunRecord& record, std::string_view phase) {
  const auto at = std::ranges::find(record.phases, phase, &TimeShare::name);
  return at == record.phases.end() ? 0 : at->seconds;
}

// Empty for 0, which means no value.
std::string number(double value) {
  return value == 0 ? "" : fmt::format("{}", value);
}

Table all_points(const CurvesResult& r) {
  Table table{.title = r.curves.title};
  for (const char* title : {"machine", "case", "way", "limit", "problem"})
    table.columns.push_back({title, Align::left});
  for (const std::string& title :
       {std::string("context"), std::string("batch"), r.curves.metric, std::string("ratio")})
    table.columns.push_back({title});
  for (const std::string_view phase : kPhaseNames)
    table.columns.push_back({std::string(phase) + " [s]"});
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
                                       number(metric(r, p)),
                                       number(r.ratio(m, c, v, w))};
          for (const std::string_view phase : kPhaseNames)
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
  int points = 0;
  int missing = 0;
  for (std::size_t m = 0; m < r.machines.size(); ++m) {
    if (!check.machine.empty() && r.machines[m] != check.machine) continue;
    for (std::size_t c = 0; c < r.curves.cases.size(); ++c) {
      if (!check.of_case.empty() && r.curves.cases[c].label != check.of_case) continue;
      const std::size_t way = way_of(r.curves.cases[c], check.way);
      const std::size_t than =
          check.other_way.empty() ? 0 : way_of(r.curves.cases[c], check.other_way);
      for (std::size_t v = 0; v < r.curves.contexts.size(); ++v) {
        if (r.curves.contexts[v] < check.from || r.curves.contexts[v] > check.to) continue;
        const double ratio = r.ratio(m, c, v, way, than);
        ++(ratio == 0 ? missing : points);
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
          .reading = "first_principles",  // bounds are not printed values
          .paper = check.at_least.value_or(check.at_most.value_or(0)),
          .simulated = check.at_least ? low : high,
          .unit = "ratio",
          .tolerance = 0,
          .status = holds ? "shape" : "fail",
          .why = fmt::format(
              "{}; found {:.3f} to {:.3f} at {} points{}; {}", check.says, any ? low : 0, high,
              points, missing == 0 ? "" : fmt::format(", {} cannot run", missing), check.why)};
}

double printed_ratio(const CurvesResult& r, const CurvePrinted& printed, std::size_t machine,
                     std::size_t which, const std::string& way) {
  const auto at = static_cast<std::size_t>(std::ranges::find(r.curves.contexts, printed.at) -
                                           r.curves.contexts.begin());
  return r.ratio(machine, which, at, way_of(r.curves.cases[which], way));
}

// One machine and one way for all cases.
struct Conditions {
  std::size_t machine = 0;
  std::string way = {};
  double off = 0;  // worst relative distance over the cases
};

std::vector<Conditions> conditions_of(const CurvesResult& r, const CurvePrinted& printed) {
  std::vector<Conditions> out;
  for (std::size_t m = 0; m < r.machines.size(); ++m)
    for (const std::string& way : printed.ways) {
      Conditions one{.machine = m, .way = way};
      for (std::size_t c = 0; c < r.curves.cases.size(); ++c)
        one.off =
            std::max(one.off, std::abs(printed_ratio(r, printed, m, c, way) / printed.paper - 1));
      out.push_back(std::move(one));
    }
  std::ranges::stable_sort(out, {}, &Conditions::off);
  return out;
}

// One result for each case, under the one condition nearest to all cases.
void add_printed(const CurvesResult& r, const CurvePrinted& printed,
                 std::vector<TargetResult>& results) {
  const std::vector<Conditions> conditions = conditions_of(r, printed);
  const Conditions& best = conditions.front();
  const auto near = std::ranges::count_if(
      conditions, [&](const Conditions& one) { return one.off <= printed.near; });
  for (std::size_t c = 0; c < r.curves.cases.size(); ++c)
    results.push_back(
        {.id = printed.id + '.' + r.curves.cases[c].label,
         .reading = "paper",
         .paper = printed.paper,
         .simulated = printed_ratio(r, printed, best.machine, c, best.way),
         .unit = "ratio",
         .tolerance = printed.near * printed.paper,
         .status = near > 0 ? "explained" : "unexplained",
         .why = fmt::format("{}; {} of {} machines and ways are near in all cases, nearest: {}, {}",
                            printed.says, near, conditions.size(), r.machines[best.machine],
                            best.way)});
}

// "1.46", with a mark where it is near the printed value.
Table printed_table(const CurvesResult& r, const CurvePrinted& printed) {
  std::string cases;
  for (const CurveCase& one : r.curves.cases) cases += (cases.empty() ? "" : " / ") + one.label;
  Table table{.title = fmt::format("{}: {} at {} positions over that of {}, {} (paper {}; * near)",
                                   heading(r), r.curves.metric, printed.at,
                                   r.curves.cases.front().ways.front().label, cases, printed.paper),
              .columns = {{"machine", Align::left}}};
  for (const std::string& way : printed.ways) table.columns.push_back({way});
  for (std::size_t m = 0; m < r.machines.size(); ++m) {
    std::vector<std::string> row{r.machines[m]};
    for (const std::string& way : printed.ways) {
      std::string cell;
      for (std::size_t c = 0; c < r.curves.cases.size(); ++c) {
        const double ratio = printed_ratio(r, printed, m, c, way);
        const bool near = std::abs(ratio / printed.paper - 1) <= printed.near;
        cell += fmt::format("{}{}{}", c == 0 ? "" : " / ",
                            ratio == 0 ? "-" : fmt::format("{:.2f}", ratio), near ? "*" : " ");
      }
      row.push_back(cell);
    }
    table.add(std::move(row));
  }
  return table;
}

// Time by phase at the printed context on one machine, in ms.
Table breakdown_table(const CurvesResult& r, const CurvePrinted& printed, std::size_t machine) {
  Table table{.title = fmt::format("{}: time by phase at {} positions on {} [ms]", heading(r),
                                   printed.at, r.machines[machine]),
              .columns = {{"case", Align::left}, {"way", Align::left}}};
  const auto at = static_cast<std::size_t>(std::ranges::find(r.curves.contexts, printed.at) -
                                           r.curves.contexts.begin());
  const auto each = [&](const auto& visit) {
    for (std::size_t c = 0; c < r.curves.cases.size(); ++c)
      for (std::size_t w = 0; w < r.ways(c); ++w)
        if (const CurvePoint& p = r.at(machine, c, at, w); p.record) visit(c, w, p);
  };
  std::vector<std::string> used;
  for (const std::string_view phase : kPhaseNames) {
    bool any = false;
    each([&](std::size_t, std::size_t, const CurvePoint& p) {
      any = any || phase_seconds(*p.record, phase) > 0;
    });
    if (any) used.emplace_back(phase);
  }
  for (const std::string& phase : used) table.columns.push_back({phase});
  table.columns.push_back({"all"});
  each([&](std::size_t c, std::size_t w, const CurvePoint& p) {
    std::vector<std::string> row{r.curves.cases[c].label, r.curves.cases[c].ways[w].label};
    for (const std::string& phase : used)
      row.push_back(fmt::format("{:.3f}", 1e3 * phase_seconds(*p.record, phase)));
    row.push_back(fmt::format("{:.3f}", 1e3 * metric(r, p)));
    table.add(std::move(row));
  });
  return table;
}

// Ratios to the first way over the context, with a panel for each machine.
std::string figure_of(const CurvesResult& r, std::size_t which) {
  const CurveCase& one = r.curves.cases[which];
  Figure figure{
      .title = heading(r) + ", " + one.label,
      .subtitle = fmt::format("{} over that of {}", r.curves.metric, one.ways.front().label),
      .columns = 4,
      .common_y = true,
      .panels = {}};
  for (std::size_t m = 0; m < r.machines.size(); ++m) {
    FigurePanel panel{.title = r.machines[m],
                      .x = {.label = "context (positions)", .log_base = 2},
                      .y = {.label = "ratio"}};
    for (std::size_t w = 0; w < one.ways.size(); ++w) {
      FigureSeries series{.name = one.ways[w].label, .points = {}};
      for (std::size_t v = 0; v < r.curves.contexts.size(); ++v) {
        const double ratio = r.ratio(m, which, v, w);
        series.points.push_back(
            {.x = static_cast<double>(r.curves.contexts[v]), .y = ratio > 0 ? ratio : kNoValue});
      }
      panel.series.push_back(std::move(series));
    }
    figure.panels.push_back(std::move(panel));
  }
  number_styles(figure);
  return to_svg(figure);
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
            if (const double ratio = r.ratio(m, c, v, w); ratio != 0) row["ratio"] = ratio;
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
  std::size_t before = 0;  // points of the previous cases on one machine
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
  return mine / other;
}

ReportSection section_of(const CurvesResult& r) {
  ReportSection section{.id = r.curves.id};
  const std::string stem = r.curves.id.substr(r.curves.id.find('.') + 1);
  for (std::size_t c = 0; c < r.curves.cases.size(); ++c)
    section.add(stem + '_' + r.curves.cases[c].label, ratio_table(r, c), r.curves.digest);
  for (std::size_t c = 0; c < r.curves.cases.size(); ++c)
    section.figures.push_back({stem + '_' + r.curves.cases[c].label + ".svg", figure_of(r, c)});
  section.add(stem, all_points(r));
  for (const CurvePrinted& printed : r.curves.printed) {
    section.add(stem + "_printed", printed_table(r, printed), true);
    for (std::size_t m = 0; m < r.machines.size(); ++m)
      section.add(fmt::format("{}_breakdown_{}", stem, m + 1), breakdown_table(r, printed, m),
                  m == 0);
  }
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
