#include "reports/compare/record_difference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;
using Setting = SettingDifference::Side;

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// True for a number with class and source, in the form of canonical configurations.
bool is_sourced(const Json& value) {
  return value.is_object() && value.contains("value") && value.contains("class");
}

Setting sourced(const Json& number) {
  Setting out{.value = text_of(number["value"]), .number_class = text_of(number["class"])};
  if (const auto source = number.find("source"); source != number.end())
    out.source = text_of(*source);
  if (const auto ci95 = number.find("ci95"); ci95 != number.end())
    out.value += fmt::format(" {}", ci95->dump());
  return out;
}

class Settings {
 public:
  explicit Settings(const std::string& config) {
    if (!config.empty()) flatten("", Json::parse(config));
  }
  const std::vector<std::string>& paths() const { return paths_; }
  Setting at(const std::string& path) const {
    const auto it = settings_.find(path);
    return it == settings_.end() ? Setting{} : it->second;
  }
  bool has(const std::string& path) const { return settings_.contains(path); }

 private:
  // A list of plain values is one setting.
  void flatten(const std::string& path, const Json& value) {
    const auto below = [&](const std::string& key) {
      return path.empty() ? key : path + '.' + key;
    };
    const bool plain_list =
        value.is_array() && std::none_of(value.begin(), value.end(),
                                         [](const Json& entry) { return entry.is_structured(); });
    if (is_sourced(value)) {
      add(path, sourced(value));
    } else if (value.is_object() && !value.empty()) {
      for (const auto& [key, entry] : value.items()) flatten(below(key), entry);
    } else if (value.is_array() && !plain_list) {
      for (std::size_t i = 0; i < value.size(); ++i)
        flatten(fmt::format("{}[{}]", path, i), value[i]);
    } else {
      add(path, {.value = text_of(value)});
    }
  }
  void add(const std::string& path, Setting setting) {
    if (settings_.emplace(path, std::move(setting)).second) paths_.push_back(path);
  }

  std::vector<std::string> paths_;
  std::map<std::string, Setting> settings_;
};

void compare_settings(const RunRecord& a, const RunRecord& b, RecordDifference& out) {
  out.configurations_known = !a.config.empty() && !b.config.empty();
  if (!out.configurations_known) return;
  const Settings before(a.config);
  const Settings after(b.config);
  std::vector<std::string> paths = before.paths();
  for (const std::string& path : after.paths())
    if (!before.has(path)) paths.push_back(path);
  out.settings = paths.size();
  for (const std::string& path : paths)
    if (before.at(path) != after.at(path))
      out.config.push_back({path, before.at(path), after.at(path)});
}

// Results of both records by name.
class Values {
 public:
  void add_a(const std::string& name, const std::string& unit, ValueDifference::Side side) {
    entry(name, unit).a = std::move(side);
  }
  void add_b(const std::string& name, const std::string& unit, ValueDifference::Side side) {
    entry(name, unit).b = std::move(side);
  }

  ValueDifferences take() {
    ValueDifferences out{.compared = values_.size(), .differ = {}};
    for (auto& [name, value] : values_)
      if (!same(value)) out.differ.push_back(std::move(value));
    std::ranges::stable_sort(out.differ, std::greater<>{}, size);
    return out;
  }

 private:
  ValueDifference& entry(const std::string& name, const std::string& unit) {
    ValueDifference& out = values_[name];
    out.name = name;
    if (out.unit.empty()) out.unit = unit;
    return out;
  }
  static bool same(const ValueDifference& value) {
    return value.a && value.b && value.a->value == value.b->value &&
           value.a->number_class == value.b->number_class && value.a->ci95 == value.b->ci95;
  }
  // Size of a difference as a factor, so that half and double count alike. A value on one side
  // only, or a change from 0, is larger than any factor.
  static double size(const ValueDifference& value) {
    constexpr double kMost = std::numeric_limits<double>::infinity();
    if (!value.a || !value.b) return kMost;
    const double a = value.a->value;
    const double b = value.b->value;
    if (a == b) return 0;
    if (a == 0 || b == 0 || (a < 0) != (b < 0)) return kMost;
    return std::abs(std::log(b / a));
  }

  std::map<std::string, ValueDifference> values_;
};

template <class Visit>
void of_both(const RunRecord& a, const RunRecord& b, ValueDifferences& out, const Visit& visit) {
  Values values;
  visit(a, [&](const std::string& name, const std::string& unit, ValueDifference::Side side) {
    values.add_a(name, unit, std::move(side));
  });
  visit(b, [&](const std::string& name, const std::string& unit, ValueDifference::Side side) {
    values.add_b(name, unit, std::move(side));
  });
  out = values.take();
}

ValueDifference::Side bytes_side(std::int64_t bytes) {
  return {.value = static_cast<double>(bytes)};
}

template <class Add>
void add_footprint(const RunRecord& record, const Add& add) {
  for (const auto& [tier, classes] : record.footprint_by_class)
    for (const auto& [name, bytes] : classes) add(tier + ", " + name, "B", bytes_side(bytes));
  if (!record.serving) return;
  for (const KvCapacity::Part& part : record.serving->capacity.parts)
    add(part.tier + ", " + part.what, "B", bytes_side(part.bytes));
  for (const KvTierUse& tier : record.serving->tiers)
    add(tier.name + ", keys and values at most", "B", bytes_side(tier.max_bytes));
}

template <class Add>
void add_traffic(const RunRecord& record, const Add& add) {
  for (const auto& [device, bytes] : record.traffic_bytes) {
    add(device + ", read", "B", bytes_side(bytes.read));
    add(device + ", write", "B", bytes_side(bytes.write));
  }
  if (!record.serving) return;
  for (const KvMove& move : record.serving->moves)
    add("blocks, " + move.name, "B", bytes_side(move.bytes));
}

}  // namespace

std::optional<double> ValueDifference::difference() const {
  if (!a || !b) return std::nullopt;
  return b->value - a->value;
}

std::optional<double> ValueDifference::relative() const {
  if (!a || !b || a->value == 0) return std::nullopt;
  return (b->value - a->value) / std::abs(a->value);
}

std::optional<bool> ValueDifference::overlap() const {
  if (!a || !b || !a->ci95 || !b->ci95) return std::nullopt;
  return a->ci95->low <= b->ci95->high && b->ci95->low <= a->ci95->high;
}

RecordDifference difference_of(const RunRecord& a, const RunRecord& b) {
  RecordDifference out{.bounded_by_a = a.bounded_by, .bounded_by_b = b.bounded_by};
  compare_settings(a, b, out);
  of_both(a, b, out.metrics, [](const RunRecord& record, const auto& add) {
    for (const auto& [name, metric] : record.metrics)
      add(name, metric.unit, {metric.value, metric.number_class, metric.ci95});
  });
  of_both(a, b, out.footprint,
          [](const RunRecord& record, const auto& add) { add_footprint(record, add); });
  of_both(a, b, out.traffic,
          [](const RunRecord& record, const auto& add) { add_traffic(record, add); });
  of_both(a, b, out.times, [](const RunRecord& record, const auto& add) {
    for (const TimeShare& share : record.time_split)
      add(share.name, "s", ValueDifference::Side{.value = share.seconds});
  });
  of_both(a, b, out.utilisation, [](const RunRecord& record, const auto& add) {
    for (const auto& [channel, share] : record.channel_utilisation)
      add(channel, "1", ValueDifference::Side{.value = share});
  });
  return out;
}

}  // namespace tiersim
