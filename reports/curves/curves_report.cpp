#include "reports/curves/curves_report.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace tiersim {
namespace {

bool varies(const PointTable& table, std::size_t column) {
  return std::ranges::any_of(table.points, [&](const ReportPoint& point) {
    return point.labels[column] != table.points.front().labels[column];
  });
}

std::vector<std::string> names_of(const PointTable& table,
                                  const std::vector<std::size_t>& columns) {
  std::vector<std::string> out;
  for (const std::size_t c : columns) out.push_back(table.columns[c].name);
  return out;
}

Expected<std::size_t> x_column(const PointTable& table, const CurveQuestion& question) {
  std::vector<std::size_t> numeric;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (table.columns[c].numeric && varies(table, c)) numeric.push_back(c);
  if (question.x) {
    if (table.columns[*question.x].numeric) return *question.x;
    return Unexpected(fmt::format("'{}' is no numeric column (there are: {})",
                                  table.columns[*question.x].name,
                                  numeric.empty() ? "none" : join(names_of(table, numeric))));
  }
  if (numeric.size() == 1) return numeric.front();
  if (numeric.empty())
    return Unexpected(std::string(
        "no numeric column varies, so that there is nothing to draw over (a sweep has axes)"));
  return Unexpected(
      fmt::format("over which column? (--x one of: {})", join(names_of(table, numeric))));
}

std::vector<std::size_t> line_columns(const PointTable& table, const CurveQuestion& question,
                                      std::size_t x) {
  if (!question.by.empty()) return question.by;
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (c != x && question.panel != c && varies(table, c)) out.push_back(c);
  return out;
}

std::string name_of_line(const PointTable& table, const ReportPoint& point,
                         const std::vector<std::size_t>& columns) {
  std::string out;
  for (const std::size_t c : columns) {
    const std::string& label = point.labels[c];
    if (label.empty()) continue;
    // A bare number needs the name of its column.
    out += (out.empty() ? "" : ", ") +
           (table.columns[c].numeric ? table.columns[c].name + ' ' + label : label);
  }
  return out;
}

// The columns in which two points of a line with the same x differ.
std::string ambiguity(const PointTable& table, const CurveLine& line) {
  for (std::size_t i = 1; i < line.samples.size(); ++i) {
    if (line.samples[i].x != line.samples[i - 1].x) continue;
    const ReportPoint& a = table.points[line.samples[i - 1].point];
    const ReportPoint& b = table.points[line.samples[i].point];
    std::vector<std::size_t> differ;
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      if (a.labels[c] != b.labels[c]) differ.push_back(c);
    if (differ.empty())
      return fmt::format("points {} and {} have the same labels, and one line cannot have both",
                         a.position, b.position);
    const std::string names = join(names_of(table, differ));
    return fmt::format(
        "a line would have several points over one value, which differ in {0} (add it to --by or "
        "--panel, or keep one of it by --where)",
        names);
  }
  return "";
}

}  // namespace

Expected<CurvesReport> curves_of(const PointTable& table, const CurveQuestion& question) {
  if (table.points.empty()) return Unexpected(std::string("there are no points"));
  const auto x = x_column(table, question);
  if (!x) return Unexpected(x.error());
  CurvesReport out{.table = &table,
                   .metric = question.metric,
                   .x_name = table.columns[*x].name,
                   .panel_name = question.panel ? table.columns[*question.panel].name : ""};
  const std::vector<std::size_t> by = line_columns(table, question, *x);
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  for (std::size_t i = 0; i < table.points.size(); ++i) {
    const ReportPoint& point = table.points[i];
    const auto at = number_of_label(point.labels[*x]);
    if (!at) continue;  // the point is not on this axis
    out.x_unit = at->unit;
    if (const Metric* metric = find_metric(point, question.metric))
      out.unit = metric->unit;
    else
      ++out.without;
    const std::pair key{question.panel ? point.labels[*question.panel] : "",
                        name_of_line(table, point, by)};
    const auto [it, added] = known.emplace(key, out.lines.size());
    if (added) out.lines.push_back({.name = key.second, .panel = key.first});
    out.lines[it->second].samples.push_back({.x = at->value, .point = i});
  }
  out.limits = limits_of(table, out.metric);
  for (CurveLine& line : out.lines) {
    std::ranges::stable_sort(line.samples, {}, &CurveSample::x);
    if (const std::string problem = ambiguity(table, line); !problem.empty())
      return Unexpected(problem);
    if (line.name.empty()) line.name = axis_label(out.metric, {});
  }
  return out;
}

}  // namespace tiersim
