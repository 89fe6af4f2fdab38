#include "reports/published/published_text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

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
  if (metric == PublishedMetric::energy) return fmt::format("{:.4g} J", value);
  if (metric == PublishedMetric::power) return fmt::format("{:.4g} W", value);
  if (metric == PublishedMetric::hit_rate) return percent(value);
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
                                  fmt::format("{} of {}", errors.close, errors.count)};
  if (intervals)
    row.emplace_back(errors.drawn == 0 ? "-"
                                       : fmt::format("{} of {}", errors.covered, errors.drawn));
  table.add(std::move(row));
}

Table empty_errors_table(std::string title, std::string by, bool intervals) {
  Table table{.title = std::move(title),
              .columns = {{std::move(by), Align::left},
                          {"metric", Align::left},
                          {"values", Align::right},
                          {"signed mean", Align::right},
                          {"median", Align::right},
                          {"p90", Align::right},
                          {"worst", Align::right},
                          {"within aim", Align::right}}};
  if (intervals) table.columns.push_back({"in interval", Align::right});
  return table;
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

// Of one group, or of all that count.
OutcomeFilter of_group(const PublishedGroup* group) {
  return [group](const PublishedOutcome& outcome) {
    return group == nullptr ? outcome.group->counted : outcome.group == group;
  };
}

// Of the runs that count with this label.
OutcomeFilter of_label(const std::string& name, const std::string& value) {
  return [name, value](const PublishedOutcome& outcome) {
    const auto found = outcome.run->labels.find(name);
    return outcome.group->counted && found != outcome.run->labels.end() && found->second == value;
  };
}

// Names of labels with their values, each in the order of the runs.
std::vector<std::pair<std::string, std::string>> labels_of(
    const std::vector<PublishedOutcome>& outcomes) {
  std::map<std::string, std::vector<std::string>> values;
  for (const PublishedOutcome& outcome : outcomes) {
    if (!outcome.group->counted) continue;
    for (const auto& [name, value] : outcome.run->labels) {
      std::vector<std::string>& seen = values[name];
      if (std::ranges::find(seen, value) == seen.end()) seen.push_back(value);
    }
  }
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, seen] : values)
    for (const std::string& value : seen) out.emplace_back(name, value);
  return out;
}

// By metric.
Json errors_json(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes,
                 const OutcomeFilter& filter) {
  Json out = Json::object();
  for (const PublishedMetric metric : kPublishedMetrics)
    out[std::string(name_of(metric))] =
        json_of(errors_of(outcomes, metric, filter), runs.aims.value(metric));
  return out;
}

Json json_of(const PublishedOutcome& outcome, PublishedMetric metric, double aim) {
  return {{"id", outcome.run->id},
          {"group", outcome.group->id},
          {"metric", name_of(metric)},
          {"unit", unit_of(metric)},
          {"measured", *outcome.run->published.value(metric)},
          {"simulated", nullptr},
          {"low", nullptr},
          {"high", nullptr},
          {"error", nullptr},
          {"aim", aim},
          {"within_aim", false},
          {"counted", outcome.group->counted},
          {"labels", outcome.run->labels}};
}

// The values of a run.
void add_runs(Json& runs, const PublishedOutcome& outcome, const PublishedAims& aims) {
  if (outcome.problem.empty()) {
    for (const PublishedCase& each : outcome.cases) {
      Json run = json_of(outcome, each.metric, each.aim);
      run["simulated"] = each.predicted;
      run["error"] = each.error;
      run["within_aim"] = each.close;
      if (each.ci95) {
        run["low"] = each.ci95->low;
        run["high"] = each.ci95->high;
      }
      runs.push_back(std::move(run));
    }
    return;
  }
  for (const PublishedMetric metric : kPublishedMetrics) {
    if (!outcome.run->published.value(metric)) continue;
    Json run = json_of(outcome, metric, aims.value(metric));
    run["why"] = outcome.problem;
    runs.push_back(std::move(run));
  }
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
  const bool intervals = std::ranges::any_of(outcomes, has_intervals);
  Table table = empty_errors_table("Errors: (simulated - measured) / measured", "runs", intervals);
  for (const PublishedMetric metric : kPublishedMetrics)
    add_errors(table, "all", metric, errors_of(outcomes, metric), intervals);
  for (const PublishedGroup& group : runs.groups)
    for (const PublishedMetric metric : kPublishedMetrics)
      add_errors(table, group.counted ? group.id : group.id + " (not in all)", metric,
                 errors_of(outcomes, metric, &group), intervals);
  table.notes.push_back(
      fmt::format("aims: tpot and median gap {:.0f} %, ttft {:.0f} %, throughput {:.0f} %",
                  100 * runs.aims.tpot, 100 * runs.aims.ttft, 100 * runs.aims.throughput));
  if (errors_of(outcomes, PublishedMetric::energy, [](const auto&) { return true; }).count > 0)
    table.notes.push_back(fmt::format("aims: energy {:.0f} %, power {:.0f} %",
                                      100 * runs.aims.energy, 100 * runs.aims.power));
  if (errors_of(outcomes, PublishedMetric::hit_rate, [](const auto&) { return true; }).count > 0)
    table.notes.push_back(fmt::format("aims: hit rate {:.0f} %", 100 * runs.aims.hit_rate));
  for (const PublishedOutcome& outcome : outcomes)
    if (!outcome.problem.empty())
      table.notes.push_back(
          fmt::format("{}.{}: {}", outcome.group->id, outcome.run->id, outcome.problem));
  return table;
}

std::vector<Table> label_tables(const std::vector<PublishedOutcome>& outcomes) {
  const bool intervals = std::ranges::any_of(outcomes, has_intervals);
  std::vector<Table> out;
  std::string last;
  for (const auto& [name, value] : labels_of(outcomes)) {
    if (out.empty() || name != last)
      out.push_back(empty_errors_table("Errors by " + name, name, intervals));
    last = name;
    for (const PublishedMetric metric : kPublishedMetrics)
      add_errors(out.back(), value, metric, errors_of(outcomes, metric, of_label(name, value)),
                 intervals);
  }
  return out;
}

Table cases_table(const PublishedGroup& group, const std::vector<PublishedOutcome>& outcomes) {
  Table table{.title = fmt::format("{}: {}, {}", group.id, group.engine, group.setup),
              .columns = {{"run", Align::left},
                          {"metric", Align::left},
                          {"simulated", Align::right},
                          {"measured", Align::right},
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
    out += to_text(cases_table(group, outcomes)) + '\n';
    if (group.wall) out += to_text(wall_table(group, outcomes)) + '\n';
  }
  return out + to_text(errors_table(runs, outcomes)) + '\n';
}

std::string to_json(const PublishedRuns& runs, const std::vector<PublishedOutcome>& outcomes) {
  Json values = Json::array();
  for (const PublishedOutcome& outcome : outcomes) add_runs(values, outcome, runs.aims);
  Json groups = Json::array();
  for (const PublishedGroup& group : runs.groups)
    groups.push_back({{"id", group.id},
                      {"counted", group.counted},
                      {"errors", errors_json(runs, outcomes, of_group(&group))}});
  Json labels = Json::array();
  for (const auto& [name, value] : labels_of(outcomes))
    labels.push_back({{"name", name},
                      {"value", value},
                      {"errors", errors_json(runs, outcomes, of_label(name, value))}});
  return Json{{"runs", std::move(values)},
              {"groups", std::move(groups)},
              {"labels", std::move(labels)},
              {"walls", walls_json(runs, outcomes)},
              {"summary", errors_json(runs, outcomes, of_group(nullptr))}}
             .dump() +
         '\n';
}

}  // namespace tiersim
