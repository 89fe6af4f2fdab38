#include "reports/marginal/marginal_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "reports/curves/curves_report.hpp"
#include "reports/points/point_values.hpp"
#include "sim/base/student_t.hpp"

namespace tiersim {
namespace {

struct End {
  std::string label = {};
  const Metric* metric = nullptr;
};
/// The points of one line of one repeat, by x.
using Ends = std::map<double, End>;

double half_width(const Metric& metric) {
  return metric.ci95 ? (metric.ci95->high - metric.ci95->low) / 2 : 0;
}

/// The interval of the mean of the repeats' differences; none for a single one.
std::optional<Interval<double>> of_repeats(const std::vector<double>& values, double mean) {
  if (values.size() < 2) return std::nullopt;
  const double squares = std::accumulate(
      values.begin(), values.end(), 0.0,
      [mean](double sum, double value) { return sum + (value - mean) * (value - mean); });
  const auto count = static_cast<double>(values.size());
  const double half = student_t_975(static_cast<std::int64_t>(values.size()) - 1) *
                      std::sqrt(squares / (count - 1) / count);
  return Interval<double>{mean - half, mean + half};
}

/// The step from `from` to `to` over all repeats that have both; none if no repeat does.
std::optional<MarginalStep> step_of(const std::vector<Ends>& repeats, double from, double to) {
  MarginalStep out{.from_x = from, .to_x = to, .repeats = 0};
  std::vector<double> slopes;
  double squared = 0;  // of the last repeat's half width
  bool intervals = false;
  for (const Ends& ends : repeats) {
    const auto a = ends.find(from);
    const auto b = ends.find(to);
    if (a == ends.end() || b == ends.end()) continue;
    const Metric& before = *a->second.metric;
    const Metric& after = *b->second.metric;
    out.from = a->second.label;
    out.to = b->second.label;
    out.before += before.value;
    out.after += after.value;
    slopes.push_back((after.value - before.value) / (to - from));
    intervals = before.ci95 || after.ci95;
    squared = half_width(before) * half_width(before) + half_width(after) * half_width(after);
  }
  if (slopes.empty()) return std::nullopt;
  const auto count = static_cast<double>(slopes.size());
  out.repeats = slopes.size();
  out.before /= count;
  out.after /= count;
  out.per_unit = std::accumulate(slopes.begin(), slopes.end(), 0.0) / count;
  out.ci95 = of_repeats(slopes, out.per_unit);
  if (slopes.size() == 1 && intervals) {
    const double half = std::sqrt(squared) / (to - from);
    out.ci95 = Interval<double>{out.per_unit - half, out.per_unit + half};
  }
  return out;
}

/// The lines of one metric, from curves whose panels are the repeats.
void add_lines(const CurvesReport& curves, MarginalReport& out, std::set<std::size_t>& missing) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<Ends>> repeats;
  for (const CurveLine& line : curves.lines) {
    Ends ends;
    for (const CurveSample& sample : line.samples) {
      const ReportPoint& point = curves.table->points[sample.point];
      if (const Metric* metric = find_metric(point, curves.metric))
        ends.emplace(sample.x, End{x_label_of(curves, sample), metric});
      else
        missing.insert(sample.point);
    }
    const auto [it, added] = repeats.try_emplace(line.name);
    if (added) names.push_back(line.name);
    it->second.push_back(std::move(ends));
  }
  for (const std::string& name : names) {
    std::set<double> values;
    for (const Ends& ends : repeats[name])
      for (const auto& [x, end] : ends) values.insert(x);
    const std::vector<double> at(values.begin(), values.end());
    const bool nameless = name == axis_label(curves.metric, {});  // no other column varies
    MarginalLine line{.metric = curves.metric, .unit = curves.unit, .name = nameless ? "" : name};
    for (std::size_t i = 1; i < at.size(); ++i)
      if (const auto step = step_of(repeats[name], at[i - 1], at[i])) {
        out.paired = out.paired || step->repeats > 1;
        line.steps.push_back(*step);
      }
    if (!line.steps.empty()) out.lines.push_back(std::move(line));
  }
}

std::string class_of(const PointTable& table, const std::vector<std::string>& metrics) {
  std::vector<const Metric*> all;
  for (const ReportPoint& point : table.points)
    for (const std::string& metric : metrics)
      if (const Metric* found = find_metric(point, metric)) all.push_back(found);
  return class_text(all);
}

}  // namespace

PerUnit per_unit_of(const std::string& base_unit) {
  constexpr double kGiga = 1e9;
  if (base_unit == "B") return {kGiga, "GB"};
  if (base_unit == "B/s") return {kGiga, "GB/s"};
  return {1, base_unit};
}

Expected<MarginalReport> marginal_of(const PointTable& table, const MarginalQuestion& question) {
  MarginalReport out{.title = table.title, .of_class = class_of(table, question.metrics)};
  std::set<std::size_t> missing;  // points that lack any of the metrics
  for (const std::string& metric : question.metrics) {
    const auto curves = curves_of(
        table, {.metric = metric, .x = question.x, .by = question.by, .panel = question.over});
    if (!curves) return Unexpected(curves.error());
    out.x_name = curves->x_name;
    out.x_unit = curves->x_unit;
    add_lines(*curves, out, missing);
  }
  for (const std::size_t point : missing) out.missing.add(table.points[point]);
  if (out.lines.empty())
    return Unexpected(fmt::format("no line has two values of '{}' with a result", out.x_name));
  return out;
}

}  // namespace tiersim
