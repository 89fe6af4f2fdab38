#include "reports/compare/difference_text.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/points/missing_points.hpp"
#include "reports/summary/summary_parts.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

std::string value_text(double value, const std::string& unit) {
  const std::string sign = value < 0 ? "-" : "";
  const double size = std::abs(value);
  if (unit == "s") return size == 0 ? "0 s" : sign + time_text(size);
  if (unit == "B") return size == 0 ? "0 B" : sign + bytes_text(std::llround(size));
  const std::string text = sign + number_text(size);
  return unit.empty() || unit == "1" ? text : fmt::format("{} {}", text, unit);
}

std::string side_text(const std::optional<ValueDifference::Side>& side, const std::string& unit) {
  if (!side) return "-";
  const std::string text = value_text(side->value, unit);
  if (!side->ci95) return text;
  return fmt::format("{} [{}, {}]", text, value_text(side->ci95->low, unit),
                     value_text(side->ci95->high, unit));
}

// "+12.5 %", or a factor for large changes.
std::string relative_text(const ValueDifference& value) {
  const auto relative = value.relative();
  if (!relative) return "-";
  if (*relative > 9) return fmt::format("x {:.3g}", 1 + *relative);
  if (*relative == 0) return "0 %";
  if (std::abs(*relative) < 0.001) return fmt::format("{:+.2g} %", 100 * *relative);
  return fmt::format("{:+.1f} %", 100 * *relative);
}

std::string difference_cell(const ValueDifference& value) {
  const auto difference = value.difference();
  if (!difference) return "-";
  return (*difference > 0 ? "+" : "") + value_text(*difference, value.unit);
}

std::string classes(const ValueDifference& value) {
  const auto name_of = [](const std::optional<ValueDifference::Side>& side) {
    return side && side->number_class ? std::string(name(*side->number_class)) : std::string("-");
  };
  const std::string a = name_of(value.a);
  const std::string b = name_of(value.b);
  return a == b ? a : a + " -> " + b;
}

std::string count_text(std::size_t differ, std::size_t of) {
  return differ == of ? fmt::format("all {} differ", of)
                      : fmt::format("{} of {} differ", differ, of);
}

Table value_table(const std::string& title, const std::string& what, const ValueDifferences& values,
                  bool metrics) {
  Table table{
      .title = fmt::format("{}: {}", title, count_text(values.differ.size(), values.compared)),
      .columns = {{what, Align::left}, {"A"}, {"B"}, {"B - A"}, {"relative"}}};
  bool intervals = false;
  for (const ValueDifference& value : values.differ) intervals |= value.overlap().has_value();
  if (intervals) table.columns.push_back({"intervals", Align::left});
  if (metrics) table.columns.push_back({"class", Align::left});
  for (const ValueDifference& value : values.differ) {
    std::vector<std::string> row{printable(value.name), side_text(value.a, value.unit),
                                 side_text(value.b, value.unit), difference_cell(value),
                                 relative_text(value)};
    const auto overlap = value.overlap();
    if (intervals) row.emplace_back(!overlap ? "-" : *overlap ? "overlap" : "apart");
    if (metrics) row.push_back(classes(value));
    table.add(std::move(row));
  }
  return table;
}

Table record_table(const ComparedRecord& a, const ComparedRecord& b,
                   const RecordDifference& difference) {
  Table table{.title = "Compared",
              .columns = {{"", Align::left},
                          {"source", Align::left},
                          {"name", Align::left},
                          {"run", Align::left},
                          {"bounded by", Align::left}}};
  const auto add = [&](const char* side, const ComparedRecord& of, const std::string& bounded_by) {
    table.add({side, printable(of.source), printable(of.record->name),
               printable(of.record->run_id.substr(0, 12)),
               bounded_by.empty() ? "-" : printable(bounded_by)});
  };
  add("A", a, difference.bounded_by_a);
  add("B", b, difference.bounded_by_b);
  if (!difference.configurations_known)
    table.notes.emplace_back(
        "a record does not hold its configuration, so settings are not compared");
  return table;
}

std::string setting_text(const SettingDifference::Side& side) {
  constexpr std::size_t kMost = 60;
  const std::string text = printable(side.value);
  return text.empty() ? "-" : shortened(text, kMost);
}

std::string either(const std::string& a, const std::string& b) {
  if (a == b) return a.empty() ? "-" : printable(a);
  return fmt::format("{} -> {}", a.empty() ? "-" : printable(a), b.empty() ? "-" : printable(b));
}

Table setting_table(const RecordDifference& difference) {
  Table table{.title = fmt::format("Settings: {}",
                                   count_text(difference.config.size(), difference.settings)),
              .columns = {{"setting", Align::left},
                          {"A", Align::left},
                          {"B", Align::left},
                          {"class", Align::left},
                          {"source", Align::left}}};
  for (const SettingDifference& setting : difference.config)
    table.add({printable(setting.path), setting_text(setting.a), setting_text(setting.b),
               either(setting.a.number_class, setting.b.number_class),
               either(setting.a.source, setting.b.source)});
  return table;
}

Json to_object(const SettingDifference::Side& side) {
  if (side.value.empty() && side.number_class.empty()) return {};
  Json out{{"value", side.value}};
  if (!side.number_class.empty()) {
    out["class"] = side.number_class;
    out["source"] = side.source;
  }
  return out;
}

Json to_object(const std::optional<ValueDifference::Side>& side) {
  if (!side) return {};
  Json out{{"value", side->value}};
  if (side->number_class) out["class"] = name(*side->number_class);
  if (side->ci95) out["ci95"] = {side->ci95->low, side->ci95->high};
  return out;
}

Json to_list(const ValueDifferences& values) {
  Json out = Json::array();
  for (const ValueDifference& value : values.differ) {
    const auto difference = value.difference();
    const auto relative = value.relative();
    const auto overlap = value.overlap();
    out.push_back({{"name", value.name},
                   {"unit", value.unit},
                   {"a", to_object(value.a)},
                   {"b", to_object(value.b)},
                   {"difference", difference ? Json(*difference) : Json()},
                   {"relative", relative ? Json(*relative) : Json()},
                   {"intervals", overlap ? Json(*overlap ? "overlap" : "apart") : Json()}});
  }
  return out;
}

Json to_object(const ComparedRecord& of) {
  return {{"source", of.source},
          {"name", of.record->name},
          {"run_id", of.record->run_id},
          {"tiersim_version", of.record->tiersim_version}};
}

bool same_results(const RecordDifference& d) {
  return d.bounded_by_a == d.bounded_by_b && d.metrics.differ.empty() &&
         d.footprint.differ.empty() && d.traffic.differ.empty() && d.times.differ.empty() &&
         d.utilisation.differ.empty();
}

}  // namespace

std::vector<Table> difference_tables(const ComparedRecord& a, const ComparedRecord& b,
                                     const RecordDifference& difference) {
  std::vector<Table> out{record_table(a, b, difference)};
  if (!difference.config.empty()) out.push_back(setting_table(difference));
  const auto add = [&](const char* title, const char* what, const ValueDifferences& values,
                       bool metrics) {
    if (!values.differ.empty()) out.push_back(value_table(title, what, values, metrics));
  };
  add("Metrics", "metric", difference.metrics, true);
  add("Held, one instance of a tier", "tier and class", difference.footprint, false);
  add("Payload, one instance of a device", "device", difference.traffic, false);
  add("Where the time of the step goes", "part", difference.times, false);
  add("Share of the time that channels work", "channel", difference.utilisation, false);
  if (same_results(difference)) out.front().notes.emplace_back("the results are the same");
  if (difference.configurations_known && difference.config.empty())
    out.front().notes.emplace_back("the configurations are the same");
  return out;
}

std::string difference_json(const ComparedRecord& a, const ComparedRecord& b,
                            const RecordDifference& difference) {
  Json config;
  if (difference.configurations_known) config = Json::array();
  for (const SettingDifference& setting : difference.config)
    config.push_back(
        {{"setting", setting.path}, {"a", to_object(setting.a)}, {"b", to_object(setting.b)}});
  const Json out{{"a", to_object(a)},
                 {"b", to_object(b)},
                 {"same_results", same_results(difference)},
                 {"settings", difference.settings},
                 {"config", std::move(config)},
                 {"bounded_by", {{"a", difference.bounded_by_a}, {"b", difference.bounded_by_b}}},
                 {"metrics", to_list(difference.metrics)},
                 {"footprint_bytes", to_list(difference.footprint)},
                 {"traffic_bytes", to_list(difference.traffic)},
                 {"time_split", to_list(difference.times)},
                 {"channel_utilisation", to_list(difference.utilisation)}};
  return out.dump(2) + '\n';
}

}  // namespace tiersim
