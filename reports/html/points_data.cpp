#include "reports/html/points_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/points/point_values.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  if (value == std::floor(value) && std::fabs(value) < 9007199254740992.0)  // 2^53
    return fmt::format("{}", static_cast<std::int64_t>(value));
  return fmt::format("{:.7g}", value);
}

template <class Values, class Text>
std::string array(const Values& values, Text text) {
  std::string out = "[";
  for (const auto& value : values) {
    if (out.size() > 1) out += ',';
    out += text(value);
  }
  return out + "]";
}

std::string text(const std::string& value) {
  return Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}
std::string index(std::size_t value) {
  return fmt::format("{}", value);
}

std::string columns(const PointsView& view) {
  return array(view.columns, [](const LabelColumn& c) {
    std::string out =
        fmt::format(R"({{"name":{},"key":{},"unit":{},"labels":{},"order":{})", text(c.name),
                    text(c.key), text(c.unit), array(c.labels, text), array(c.order, index));
    if (c.numeric()) out += ",\"numbers\":" + array(c.numbers, number);
    return out + ",\"at\":" + array(c.at, index) + "}";
  });
}

std::string metrics(const PointsView& view) {
  return array(view.metrics, [](const MetricColumn& m) {
    // A constant metric is stored as one value.
    const bool constant = !m.varies && m.low.empty() &&
                          std::ranges::none_of(m.values, [](double v) { return std::isnan(v); });
    std::string out =
        fmt::format(R"({{"name":{},"unit":{},"meaning":{},"class":{},"values":{})", text(m.name),
                    text(m.unit), text(m.meaning), text(std::string(name(m.weakest))),
                    constant ? number(m.values.front()) : array(m.values, number));
    if (!m.low.empty())
      out += ",\"low\":" + array(m.low, number) + ",\"high\":" + array(m.high, number);
    return out + "}";
  });
}

// Commands as lists of indices into the distinct words, most of which are shared by all points.
std::string commands(const PointTable& table) {
  std::map<std::string, std::size_t> known;
  std::vector<std::string> words;
  const std::string rerun = array(table.points, [&](const ReportPoint& point) {
    std::vector<std::size_t> indices;
    for (std::size_t at = 0; at < point.rerun.size();) {
      const std::size_t end = std::min(point.rerun.find(' ', at), point.rerun.size());
      const auto [found, is_new] = known.emplace(point.rerun.substr(at, end - at), words.size());
      if (is_new) words.push_back(found->first);
      indices.push_back(found->second);
      at = end + 1;
    }
    return array(indices, index);
  });
  return "\"words\":" + array(words, text) + ",\"rerun\":" + rerun;
}

std::string problems(const PointTable& table) {
  std::string out = "[";
  for (std::size_t p = 0; p < table.points.size(); ++p) {
    if (table.points[p].problem.empty()) continue;
    out += fmt::format("{}[{},{}]", out.size() > 1 ? "," : "", p, text(table.points[p].problem));
  }
  return out + "]";
}

// The first configuration in full, and the differences of the others from it, by path.
std::string configurations(const PointTable& table) {
  if (table.points.size() > kConfigs) return "";
  Json first;
  Json first_flat;
  std::string changed = "[";
  for (const ReportPoint& point : table.points) {
    if (changed.size() > 1) changed += ',';
    const Json config = point.record ? Json::parse(point.record->config, nullptr, false) : Json();
    if (!config.is_object() || config.empty()) {
      changed += "null";
      continue;
    }
    const Json flat = config.flatten();
    if (first.is_null()) {
      first = config;
      first_flat = flat;
    }
    Json differences = Json::object();
    for (const auto& [path, value] : flat.items())
      if (!first_flat.contains(path) || first_flat[path] != value) differences[path] = value;
    for (const auto& [path, value] : first_flat.items())
      if (!flat.contains(path)) differences[path] = nullptr;
    changed += differences.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  if (first.is_null()) return "";
  return ",\"config\":" + first.dump(-1, ' ', false, Json::error_handler_t::replace) +
         ",\"changed\":" + changed + "]";
}

// The chosen columns and metric by name.
std::string choice_json(const PointsView& view) {
  Json out = Json::object();
  const auto add = [&](const char* key, std::optional<std::size_t> column) {
    if (column) out[key] = view.columns[*column].name;
  };
  add("x", view.choice.x);
  add("colour", view.choice.by);
  add("panel", view.choice.panel);
  if (!view.choice.metric.empty()) out["metric"] = view.choice.metric;
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The limits of each metric by its index.
std::string limits_json(const PointTable& table, const PointsView& view) {
  Json out = Json::array();
  for (std::size_t m = 0; m < view.metrics.size(); ++m)
    for (const MetricLimit& limit : limits_of(table, view.metrics[m].name))
      out.push_back({{"metric", m},
                     {"value", limit.value},
                     {"text", limit_text(limit, view.metrics[m].unit)}});
  return out.dump();
}

}  // namespace

std::string points_json(const PointTable& table, const PointsView& view) {
  const bool whole = table.points.size() <= kWholeIds;
  const std::string ids = array(table.points, [&](const ReportPoint& point) {
    return text(whole ? point.run_id : point.run_id.substr(0, 16));
  });
  const std::string objectives = array(view.objectives, [](const ReportObjective& objective) {
    return fmt::format(R"({{"metric":{},"maximize":{}}})", text(objective.metric),
                       objective.maximize);
  });
  std::string out = fmt::format(
      R"({{"points":{},"columns":{},"metrics":{},"objectives":{},"shown":{},"front":{},"problems":{},"run_ids":{},{})",
      table.points.size(), columns(view), metrics(view), objectives, array(view.shown, index),
      array(view.front, index), problems(table), ids, commands(table));
  // The ids of the points. Most tables hold all points of a sweep, so that an id is its index.
  bool indices = true;
  for (std::size_t p = 0; p < table.points.size(); ++p)
    indices = indices && std::cmp_equal(table.points[p].position, p);
  if (!indices)
    out += ",\"positions\":" + array(table.points, [](const ReportPoint& point) {
             return fmt::format("{}", point.position);
           });
  if (!table.feasible.empty())
    out += ",\"feasible\":" +
           array(table.feasible, [](bool feasible) { return std::string(feasible ? "1" : "0"); });
  out += ",\"choice\":" + choice_json(view);
  out += ",\"limits\":" + limits_json(table, view);
  if (table.whole) out += fmt::format(",\"whole\":{}", table.whole->points);
  return out + configurations(table) + "}";
}

}  // namespace tiersim
