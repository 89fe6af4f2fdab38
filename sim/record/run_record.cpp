#include "sim/record/run_record.hpp"

#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include "sim/config/json_layout.hpp"
#include "sim/record/record_fields.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

// Stands for the text of the configuration, whose numbers another writer would round otherwise.
constexpr std::string_view kConfigMark = "\"<configuration>\"";

// JSON admits 0x7f in text; YAML, which reads the text again, does not.
std::string pretty(const Json& json, const std::string& config) {
  std::string line;
  for (const char c : json.dump()) {
    if (c == '\x7f')
      line += "\\u007f";
    else
      line += c;
  }
  const std::size_t mark = line.rfind(kConfigMark);
  if (mark != std::string::npos) line.replace(mark, kConfigMark.size(), config);
  return pretty_json(line);
}

// A count is written as 128, not 128.0. Exact over the range of exact doubles.
Json number(double value) {
  constexpr double kExact = 9'007'199'254'740'992;  // 2^53
  if (std::trunc(value) == value && std::abs(value) < kExact)
    return static_cast<std::int64_t>(value);
  return value;
}
template <class T>
Json json_of(const T& value, bool is_count = false);

// Makes an object of fields.
class JsonWriter : public record::Visitor<JsonWriter> {
 public:
  Json take() { return std::move(out_); }

  void doc(std::string_view, std::string_view) {}
  template <class T>
  void field(const record::Field& f, const T& member) {
    if constexpr (record::kIsOptional<T>) {
      if (member) field(f, *member);
    } else {
      if constexpr (std::is_same_v<T, double>)
        if (f.presence == record::Presence::above_zero && !(member > 0)) return;
      if (f.presence != record::Presence::in_stores)
        out_.emplace(f.key, json_of(member, f.is_count));
    }
  }

 private:
  Json out_ = Json::object();
};

template <class T>
Json json_of(const T& value, bool is_count) {
  if constexpr (std::is_same_v<T, double>) {
    return is_count ? number(value) : Json(value);
  } else if constexpr (std::is_same_v<T, NumberClass>) {
    return name(value);
  } else if constexpr (std::is_same_v<T, record::Tag>) {
    return value.text;
  } else if constexpr (record::kIsJsonText<T>) {
    return kConfigMark.substr(1, kConfigMark.size() - 2);
  } else if constexpr (record::kIsInterval<T>) {
    return {json_of(value.low, is_count), json_of(value.high, is_count)};
  } else if constexpr (record::kIsMap<T> || record::kIsSeries<T>) {
    Json out = Json::object();
    for (const auto& [key, entry] : value) out[key] = json_of(entry);
    return out;
  } else if constexpr (record::kIsList<T>) {
    Json out = Json::array();
    for (const auto& entry : value) out.push_back(json_of(entry));
    return out;
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else {
    JsonWriter writer;
    record::describe(writer, value);
    return writer.take();
  }
}

// A list of {name: ..., ...} or {family: ..., ...} as an object with these names as keys, so that
// an entry is compared with the one of the same name.
Json by_name(const Json& list) {
  Json out = Json::object();
  for (std::size_t i = 0; i < list.size(); ++i) {
    Json entry = list[i];
    std::string key = std::to_string(i);
    for (const char* naming : {"name", "family"}) {
      const auto it = entry.is_object() ? entry.find(naming) : entry.end();
      if (it == entry.end() || !it->is_string()) continue;
      key = it->get<std::string>();
      entry.erase(naming);
      break;
    }
    out[std::move(key)] = std::move(entry);
  }
  return out;
}

void compare(const std::string& name, const Json& before, const Json& now,
             std::vector<Difference>& out) {
  if (before.is_array() && now.is_array()) return compare(name, by_name(before), by_name(now), out);
  if (!before.is_object() || !now.is_object()) {
    if (before != now) out.push_back({name, before.dump(), now.dump()});
    return;
  }
  const std::string prefix = name.empty() ? "" : name + '.';
  for (const auto& [key, value] : before.items()) {
    if (const auto it = now.find(key); it != now.end())
      compare(prefix + key, value, *it, out);
    else
      out.push_back({prefix + key, value.dump(), ""});
  }
  for (const auto& [key, value] : now.items())
    if (!before.contains(key)) out.push_back({prefix + key, "", value.dump()});
}

}  // namespace

std::string to_json(const RunRecord& record) {
  return pretty(json_of(record), record.config);
}

std::string pretty_results(const RunRecord& record) {
  return pretty(json_of(record::ResultsOf{record}), record.config);
}

std::vector<Difference> differences(const std::string& before, const std::string& now) {
  std::vector<Difference> out;
  compare("", Json::parse(before).at("results"), Json::parse(now).at("results"), out);
  return out;
}

}  // namespace tiersim
