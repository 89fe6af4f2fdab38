#include "sim/sweep/store_text.hpp"

#include <charconv>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"
#include "sim/config/json_text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void damaged(const char* what) {
  throw std::runtime_error(what);
}

bool is_plain_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || !std::isfinite(value) || text == "-0") return false;
  return fmt::format("{}", value) == text;  // so that reading it gives the same text
}

// The end of the JSON text that begins at `at` with a quote.
std::size_t end_of_text(std::string_view json, std::size_t at) {
  for (++at; at < json.size(); ++at) {
    if (json[at] == '\\')
      ++at;
    else if (json[at] == '"')
      return at + 1;
  }
  damaged("a text does not end");
}

bool begins_number(char c) {
  return c == '-' || (c >= '0' && c <= '9');
}

std::size_t end_of_number(std::string_view json, std::size_t at) {
  while (at < json.size() && (begins_number(json[at]) || json[at] == '.' || json[at] == 'e' ||
                              json[at] == 'E' || json[at] == '+'))
    ++at;
  return at;
}

// The values of a flat list, as they are written.
std::vector<std::string_view> items_of(std::string_view list) {
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') damaged("it is no list");
  std::vector<std::string_view> out;
  for (std::size_t at = 1; at + 1 < list.size();) {
    const std::size_t end = list[at] == '"' ? end_of_text(list, at)
                                            : std::min(list.find_first_of(",]", at), list.size());
    out.push_back(list.substr(at, end - at));
    if (end >= list.size() || (list[end] != ',' && end + 1 != list.size()))
      damaged("it is no list");
    at = end + 1;
  }
  return out;
}

}  // namespace

std::string labels_json(const std::vector<SpaceColumn>& columns,
                        const std::vector<std::string>& labels) {
  std::string out = "{";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (labels[i].empty()) continue;
    if (out.size() > 1) out += ',';
    out += detail::json_string(columns[i].name) + ':';
    out += is_plain_number(labels[i]) ? labels[i] : detail::json_string(labels[i]);
  }
  return out + '}';
}

std::string labels_row(const std::vector<std::string>& labels) {
  std::string out = "[";
  for (const std::string& label : labels) {
    if (out.size() > 1) out += ',';
    if (label.empty())
      out += "null";
    else
      out += is_plain_number(label) ? label : detail::json_string(label);
  }
  return out + ']';
}

std::vector<std::string> labels_of(std::string_view row) {
  std::vector<std::string> out;
  for (const std::string_view item : items_of(row)) {
    if (item == "null")
      out.emplace_back();
    else if (item.starts_with('"'))
      out.push_back(Json::parse(item).get<std::string>());
    else
      out.emplace_back(item);
  }
  return out;
}

std::string settings_form(const std::vector<SpaceColumn>& columns, const SpacePoint& point) {
  std::string out = "[";
  for (const std::string& setting : point.set) {
    if (out.size() > 1) out += ',';
    const std::size_t equals = setting.find('=');
    std::size_t column = 0;
    const auto is_value = [&](std::size_t c) {
      return equals != std::string::npos && !point.labels[c].empty() &&
             std::string_view(setting).substr(equals + 1) == point.labels[c] &&
             std::string_view(setting).substr(0, equals) == columns[c].key;
    };
    while (column < columns.size() && !is_value(column)) ++column;
    if (column == columns.size())
      out += detail::json_string(setting);
    else
      out += fmt::format("[{},{}]", detail::json_string(setting.substr(0, equals + 1)), column);
  }
  return out + ']';
}

SettingsForm::SettingsForm(const std::string& text) {
  for (const Json& setting : Json::parse(text)) {
    if (setting.is_string())
      settings_.push_back({setting.get<std::string>(), -1});
    else
      settings_.push_back({setting.at(0).get<std::string>(), setting.at(1).get<int>()});
  }
}

std::vector<std::string> SettingsForm::of(const std::vector<std::string>& labels) const {
  std::vector<std::string> out;
  out.reserve(settings_.size());
  for (const Setting& setting : settings_)
    out.push_back(setting.column < 0
                      ? setting.text
                      : setting.text + labels.at(static_cast<std::size_t>(setting.column)));
  return out;
}

SplitNumbers split_numbers(std::string_view json) {
  SplitNumbers out;
  out.shape.reserve(json.size());
  out.numbers = "[";
  int index = 0;
  for (std::size_t at = 0; at < json.size();) {
    const std::size_t from = at;
    if (json[at] == '"') {
      at = end_of_text(json, at);
      out.shape.append(json, from, at - from);
    } else if (begins_number(json[at])) {
      at = end_of_number(json, at);
      if (index > 0) out.numbers += ',';
      out.numbers.append(json, from, at - from);
      out.shape += fmt::format_int(index++).c_str();
    } else {
      out.shape += json[at++];
    }
  }
  out.numbers += ']';
  return out;
}

std::string join_numbers(std::string_view shape, std::string_view numbers) {
  const std::vector<std::string_view> all = items_of(numbers);
  std::string out;
  out.reserve(shape.size() + numbers.size());
  std::size_t next = 0;
  for (std::size_t at = 0; at < shape.size();) {
    const std::size_t from = at;
    if (shape[at] == '"') {
      at = end_of_text(shape, at);
      out.append(shape, from, at - from);
    } else if (begins_number(shape[at])) {
      at = end_of_number(shape, at);
      if (next == all.size()) damaged("it has too few numbers");
      out += all[next++];
    } else {
      out += shape[at++];
    }
  }
  if (next != all.size()) damaged("it has too many numbers");
  return out;
}

std::string id_bytes(std::string_view hex) {
  TS_EXPECTS(hex.size() % 2 == 0, hex);
  std::string out(hex.size() / 2, '\0');
  for (std::size_t i = 0; i < out.size(); ++i) {
    unsigned value = 0;
    std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, value, 16);
    out[i] = static_cast<char>(value);
  }
  return out;
}

std::string id_text(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
  return out;
}

}  // namespace tiersim
