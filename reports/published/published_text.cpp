#include "reports/published/published_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(PublishedMetric metric) {
  return kPublishedMetricNames[static_cast<std::size_t>(metric)];
}
std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}
std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

std::string time_text(double seconds) {
  return seconds < 1 ? fmt::format("{:.4g} ms", 1e3 * seconds) : fmt::format("{:.4g} s", seconds);
}
std::string value_text(PublishedMetric metric, double value) {
  if (metric != PublishedMetric::throughput) return time_text(value);
  return value < 100 ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
}
std::string value_text(PublishedMetric metric, const std::optional<double>& value) {
  return value ? value_text(metric, *value) : "-";
}

// Adds the row of one metric of one group. `intervals` adds a cell for the coverage of intervals.
void add_errors(Table& table, const std::string& by, PublishedMetric metric,
                const PublishedErrors& errors, bool intervals) {
  if (errors.count == 0) return;
  std::vector<std::string> row = {by,
                                  std::string(name_of(metric)),
                                  std::to_string(errors.count),
                                  signed_percent(errors.signed_mean),
                                  percent(errors.median),
                                  percent(errors.p90),
                                  percent(errors.worst),
                                  errors.worst_case,
                                  fmt::format("{} of {}", errors.close, errors.count)};
  if (intervals)
    row.emplace_back(errors.drawn == 0 ? "-"
                                       : fmt::format("{} of {}", errors.covered, errors.drawn));
  table.add(std::move(row));
}

bool has_intervals(const PublishedOutcome& outcome) {
  return std::ranges::any_of(outcome.cases,
                             [](const PublishedCase& each) { return each.ci95.has_value(); });
}

Json json_of(const PublishedErrors& errors, double aim) {
  return {{"count", errors.count},
          {"signed_mean", errors.signed_mean},
          {"median", errors.median},
          {"p90", errors.p90},
          {"worst", errors.worst},
          {"worst_case", errors.worst_case},
          {"aim", aim},
          {"within_aim", errors.close},
          {"drawn", errors.drawn},
          {"in_interval", errors.covered}};
}

// By metric; of one group, or of all that count.
Json errors_json(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes,
                 const PublishedGroup* group) {
  Json out = Json::object();
  for (const PublishedMetric metric : kPublishedMetrics)
    out[std::string(name_of(metric))] =
        json_of(errors_of(outcomes, metric, group), runs.aims.value(metric));
  return out;
}

Json json_of(const PublishedCase& each, bool counted) {
  Json out = {{"id", each.id},
              {"level", "serving"},
              {"predicted", each.predicted},
              {"reference", each.reference},
              {"unit", unit_of(each.metric)},
              {"error", each.error},
              {"band", {each.reference * (1 - each.aim), each.reference * (1 + each.aim)}},
              {"status", each.close ? "within" : "outside"},
              {"counted", counted}};
  if (each.ci95) {
    out["low"] = each.ci95->low;
    out["high"] = each.ci95->high;
  }
  return out;
}

// Adds the printed values of a run that could not run.
void add_problems(Json& cases, const PublishedOutcome& outcome) {
  for (const PublishedMetric metric : kPublishedMetrics)
    if (const auto reference = outcome.run->published.value(metric))
      cases.push_back(
          {{"id", fmt::format("{}.{}.{}", outcome.group->id, outcome.run->id, name_of(metric))},
           {"level", "serving"},
           {"predicted", nullptr},
           {"reference", *reference},
           {"unit", unit_of(metric)},
           {"error", nullptr},
           {"band", nullptr},
           {"status", "failed"},
           {"why", outcome.problem}});
}

Json walls_json(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes) {
  Json walls = Json::array();
  for (const PublishedGroup& group : runs.groups) {
    if (!group.wall) continue;
    Json points = Json::array();
    for (const PublishedOutcome& outcome : outcomes)
      if (outcome.group == &group && outcome.wall)
        points.push_back({{"users", outcome.wall->users},
                          {"positions", outcome.wall->positions},
                          {"fitting", outcome.wall->fitting},
                          {"ttft_s", outcome.wall->ttft.value_or(0)},
                          {"tpot_s", outcome.wall->tpot.value_or(0)},
                          {"throughput_tokens_per_s", outcome.wall->throughput}});
    walls.push_back({{"group", group.id}, {"points", std::move(points)}});
  }
  return walls;
}

}  // namespace

Table errors_table(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes) {
  Table table{.title = "Errors: (simulated - published) / published; nothing is fitted on these",
              .columns = {{"runs", Align::left},
                          {"metric", Align::left},
                          {"values", Align::right},
                          {"signed mean", Align::right},
                          {"median", Align::right},
                          {"p90", Align::right},
                          {"worst", Align::right},
                          {"worst case", Align::left},
                          {"within aim", Align::right}}};
  const bool intervals = std::ranges::any_of(outcomes, has_intervals);
  if (intervals) table.columns.push_back({"in interval", Align::right});
  for (const PublishedMetric metric : kPublishedMetrics)
    add_errors(table, "all", metric, errors_of(outcomes, metric), intervals);
  for (const PublishedGroup& group : runs.groups)
    for (const PublishedMetric metric : kPublishedMetrics)
      add_errors(table, group.counted ? group.id : group.id + " (not in all)", metric,
                 errors_of(outcomes, metric, &group), intervals);
  table.notes.push_back(
      fmt::format("aims: tpot and median gap {:.0f} %, ttft {:.0f} %, throughput {:.0f} %",
                  100 * runs.aims.tpot, 100 * runs.aims.ttft, 100 * runs.aims.throughput));
  for (const PublishedOutcome& outcome : outcomes)
    if (!outcome.problem.empty())
      table.notes.push_back(
          fmt::format("{}.{}: {}", outcome.group->id, outcome.run->id, outcome.problem));
  return table;
}

Table cases_table(const PublishedGroup& group, const std::vector<PublishedOutcome>& outcomes) {
  Table table{.title = fmt::format("{}: {}, {}", group.id, group.engine, group.setup),
              .columns = {{"run", Align::left},
                          {"metric", Align::left},
                          {"simulated", Align::right},
                          {"published", Align::right},
                          {"error", Align::right},
                          {"aim", Align::left}}};
  for (const PublishedOutcome& outcome : outcomes) {
    if (outcome.group != &group) continue;
    for (const PublishedCase& each : outcome.cases)
      table.add({outcome.run->id, std::string(name_of(each.metric)),
                 value_text(each.metric, each.predicted), value_text(each.metric, each.reference),
                 signed_percent(each.error), each.close ? "within" : "outside"});
  }
  if (std::ranges::any_of(table.rows, [](const auto& row) {
        return row[1].shown() == name_of(PublishedMetric::throughput);
      }))
    table.notes.emplace_back("throughput: tokens/s out");
  table.notes.push_back("source: " + group.source);
  table.notes.push_back("assumed: " + group.assumed);
  if (!group.note.empty()) table.notes.push_back("why: " + group.note);
  return table;
}

Table wall_table(const PublishedGroup& group, const std::vector<PublishedOutcome>& outcomes) {
  Table table{.title = fmt::format("{}: more users than fit", group.id),
              .columns = {{"users", Align::right},
                          {"ttft", Align::right},
                          {"published", Align::right},
                          {"tpot", Align::right},
                          {"published", Align::right},
                          {"tokens/s", Align::right},
                          {"published", Align::right}}};
  WallPoint last;
  for (const PublishedOutcome& outcome : outcomes) {
    if (outcome.group != &group || !outcome.wall) continue;
    const PublishedValues& printed = outcome.run->published;
    const auto text = [&](PublishedMetric metric) {
      return value_text(metric, printed.value(metric));
    };
    last = *outcome.wall;
    table.add({std::to_string(outcome.wall->users),
               value_text(PublishedMetric::ttft, outcome.wall->ttft), text(PublishedMetric::ttft),
               value_text(PublishedMetric::tpot, outcome.wall->tpot), text(PublishedMetric::tpot),
               value_text(PublishedMetric::throughput, outcome.wall->throughput),
               text(PublishedMetric::throughput)});
  }
  table.notes.push_back(
      fmt::format("the pool has room for {} positions, {} sequences of full length and some more "
                  "while they grow: beyond, users wait",
                  last.positions, last.fitting));
  return table;
}

std::string to_text(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes) {
  std::string out;
  for (const PublishedGroup& group : runs.groups) {
    out += to_text(printable(cases_table(group, outcomes))) + '\n';
    if (group.wall) out += to_text(printable(wall_table(group, outcomes))) + '\n';
  }
  return out + to_text(printable(errors_table(runs, outcomes))) + '\n';
}

std::string to_json(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes) {
  Json cases = Json::array();
  for (const PublishedOutcome& outcome : outcomes) {
    if (!outcome.problem.empty()) add_problems(cases, outcome);
    for (const PublishedCase& each : outcome.cases)
      if (outcome.problem.empty()) cases.push_back(json_of(each, outcome.group->counted));
  }
  Json groups = Json::array();
  for (const PublishedGroup& group : runs.groups)
    groups.push_back({{"id", group.id},
                      {"counted", group.counted},
                      {"errors", errors_json(runs, outcomes, &group)}});
  return Json{{"cases", std::move(cases)},
              {"groups", std::move(groups)},
              {"walls", walls_json(runs, outcomes)},
              {"summary", errors_json(runs, outcomes, nullptr)}}
             .dump() +
         '\n';
}

}  // namespace tiersim
