#include "reports/sensitivity/axis_effects.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/render/svg_canvas.hpp"
#include "sim/base/display.hpp"
#include "sim/base/text.hpp"
#include "sim/record/table_json.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

struct Spread {
  double low = 0;
  double high = 0;
  std::size_t count = 0;
  const ReportPoint* any = nullptr;

  void add(double value, const ReportPoint& point) {
    low = count == 0 ? value : std::min(low, value);
    high = count == 0 ? value : std::max(high, value);
    ++count;
    any = &point;
  }
};

// The labels of a group on its axes: "context=4096".
std::vector<std::string> named(const PointTable& table, std::size_t left_out,
                               const std::vector<std::string>& labels) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::size_t column = i < left_out ? i : i + 1;
    if (!labels[i].empty()) out.push_back(table.columns[column].name + '=' + labels[i]);
  }
  return out;
}

AxisEffect effect_of(const PointTable& table, std::size_t axis, const std::string& metric) {
  AxisEffect out{.axis = table.columns[axis].name};
  std::set<std::string> labels;
  std::map<std::vector<std::string>, Spread> groups;  // by the labels of all other axes
  for (const ReportPoint& point : table.points) {
    const Metric* value = find_metric(point, metric);
    if (value == nullptr) continue;
    labels.insert(point.labels[axis]);
    std::vector<std::string> others = point.labels;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(axis));
    groups[others].add(value->value, point);
  }
  out.labels = labels.size();
  double sum = 0;
  double logs = 0;
  std::size_t ratios = 0;
  for (const auto& [others, spread] : groups) {
    if (spread.count < 2) continue;
    ++out.groups;
    const double range = spread.high - spread.low;
    sum += range;
    if (out.where.empty() || range > out.most) {
      out.most = range;
      out.where = named(table, axis, others);
    }
    if (spread.low > 0) {
      ++ratios;
      logs += std::log(spread.high / spread.low);
      out.most_ratio = std::max(out.most_ratio, spread.high / spread.low);
    }
  }
  if (out.groups > 0) out.mean = sum / static_cast<double>(out.groups);
  if (ratios > 0) out.mean_ratio = std::exp(logs / static_cast<double>(ratios));
  return out;
}

}  // namespace

AxisEffects effects_of(const PointTable& table, const std::string& metric) {
  AxisEffects out{.metric = metric};
  std::vector<const Metric*> metrics;
  for (const ReportPoint& point : table.points) {
    const Metric* value = find_metric(point, metric);
    metrics.push_back(value);
    if (value == nullptr) {
      out.without.add(point);
      continue;
    }
    ++out.points;
    out.unit = value->unit;
  }
  out.of_class = class_text(metrics);
  for (std::size_t axis = 0; axis < table.columns.size(); ++axis) {
    AxisEffect effect = effect_of(table, axis, metric);
    if (effect.groups > 0)
      out.axes.push_back(std::move(effect));
    else if (effect.labels > 1)
      out.alone.push_back(effect.axis);
  }
  std::ranges::stable_sort(out.axes, std::greater<>(), &AxisEffect::mean);
  return out;
}

Table table_of(const AxisEffects& effects) {
  const std::string unit = effects.unit == "1" ? "" : fmt::format(" ({})", effects.unit);
  Table out{
      .title = fmt::format("How far each axis moves {}, the others held", effects.metric),
      .columns = {{"axis", Align::left},
                  {.title = "values", .key = "labels", .csv = "values"},
                  {.title = "mean range", .key = "mean_range", .csv = "mean range" + unit},
                  {.title = "largest range", .key = "largest_range", .csv = "largest range" + unit},
                  {.title = "mean ratio", .key = "mean_ratio", .csv = "mean ratio"},
                  {.title = "largest ratio", .key = "largest_ratio", .csv = "largest ratio"},
                  {"groups"},
                  {.title = "largest range at",
                   .align = Align::left,
                   .key = "largest_at",
                   .csv = "largest range at"}}};
  const auto ratio = [&](double value) { return Cell(value, fmt::format("{:.3g}", value)); };
  for (const AxisEffect& axis : effects.axes)
    out.add({axis.axis, axis.labels, Cell::quantity(axis.mean, effects.unit),
             Cell::quantity(axis.most, effects.unit), ratio(axis.mean_ratio),
             ratio(axis.most_ratio), axis.groups, Cell(axis.where, join(axis.where))});
  out.notes.push_back(fmt::format(
      "{}: {}, class {}; a group is points that differ in this axis only; ranges are largest less "
      "smallest in a group, ratios one over the other (their mean is geometric)",
      effects.metric, effects.unit == "1" ? "a plain number" : effects.unit, effects.of_class));
  if (!effects.alone.empty())
    out.notes.push_back(
        fmt::format("no two points differ in one of these alone: {}", join(effects.alone)));
  if (effects.without.count() > 0)
    out.notes.push_back(fmt::format("not in it: {} ({})", points_text(effects.without.count()),
                                    effects.without.text()));
  return out;
}

std::string to_json(const AxisEffects& effects) {
  constexpr std::array<std::string_view, 8> kKeys{"axis",          "labels",        "groups",
                                                  "mean_range",    "largest_range", "mean_ratio",
                                                  "largest_ratio", "largest_at"};
  const Json out{{"metric", effects.metric},
                 {"unit", effects.unit},
                 {"class", effects.of_class},
                 {"axes", Json::parse(to_json(table_of(effects), kKeys))},
                 {"not_alone", effects.alone},
                 {"points", effects.points},
                 {"without_value", effects.without.count()}};
  return out.dump(2) + '\n';
}

std::string to_svg(const AxisEffects& effects) {
  constexpr double kMargin = 16;
  constexpr double kRow = 26;
  constexpr double kPlot = 420;
  SvgCanvas canvas;
  double names = 0;
  double most = 0;
  for (const AxisEffect& axis : effects.axes) {
    names = std::max(names, text_width(axis.axis, 12));
    most = std::max(most, axis.most);
  }
  const std::string title = fmt::format("How far each axis moves {}", effects.metric);
  canvas.text({kMargin, kMargin + 14}, title, {.size = 15, .bold = true});
  canvas.text({kMargin, kMargin + 31},
              "others held; bar: mean of largest less smallest value; line: the largest",
              {.size = 11, .colour = "#666666"});
  double y = kMargin + 46;
  const double left = kMargin + names + 10;
  const auto length = [&](double value) { return most > 0 ? kPlot * value / most : 0; };
  for (const AxisEffect& axis : effects.axes) {
    const double middle = y + kRow / 2;
    const double end = left + length(axis.most);
    canvas.text({left - 8, middle + 4}, axis.axis, {.size = 12, .anchor = TextAnchor::end});
    canvas.rectangle({left, middle - 7}, length(axis.mean), 14, palette(0), {});
    canvas.line({left, middle}, {end, middle}, {.colour = "#222222", .width = 1.2});
    canvas.line({end, middle - 5}, {end, middle + 5}, {.colour = "#222222", .width = 1.2});
    canvas.text({end + 8, middle + 4},
                fmt::format("{}, at most {}", display(axis.mean, effects.unit),
                            display(axis.most, effects.unit)),
                {.size = 11});
    y += kRow;
  }
  return canvas.page(left + kPlot + 200, y + kMargin, title);
}

}  // namespace tiersim
