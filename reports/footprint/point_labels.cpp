#include "reports/footprint/point_labels.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

std::string_view label_at(const PointTable& table, std::size_t point, std::size_t column) {
  const auto& labels = table.points[point].labels;
  return column < labels.size() ? std::string_view(labels[column]) : std::string_view();
}

bool differ(const PointTable& table, std::size_t column) {
  for (std::size_t p = 1; p < table.points.size(); ++p)
    if (label_at(table, p, column) != label_at(table, 0, column)) return true;
  return false;
}

std::vector<std::size_t> columns_with(const PointTable& table, const std::string& label) {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    for (std::size_t p = 0; p < table.points.size(); ++p)
      if (label_at(table, p, c) == label) {
        out.push_back(c);
        break;
      }
  return out;
}

std::string known_labels(const PointTable& table) {
  constexpr std::size_t kMost = 12;
  std::vector<std::string> out;
  for (std::size_t c = 0; c < table.columns.size() && out.size() < kMost; ++c) {
    std::vector<std::string> labels;
    for (std::size_t p = 0; p < table.points.size() && labels.size() < kMost; ++p) {
      const std::string label = printable(label_at(table, p, c));
      if (!label.empty() && std::ranges::find(labels, label) == labels.end())
        labels.push_back(label);
    }
    out.push_back(fmt::format("{}: {}", printable(table.columns[c].name), join(labels)));
  }
  return join(out, "; ");
}

using ByLabels = std::map<std::vector<std::string>, std::size_t>;

// True where all settings that both points have are equal. Sub-grids have axes of their own, and
// their names are not settings.
bool alike(const PointTable& table, std::size_t a, std::size_t b, std::size_t but) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (c == but || table.columns[c].key.empty()) continue;
    const std::string_view left = label_at(table, a, c);
    const std::string_view right = label_at(table, b, c);
    if (!left.empty() && !right.empty() && left != right) return false;
  }
  return true;
}

// The only candidate that is alike to the point; the end where there are none or several.
ByLabels::const_iterator only_like(const PointTable& table, std::size_t point, std::size_t column,
                                   const ByLabels& candidates) {
  if (candidates.size() == 1) return candidates.begin();
  auto found = candidates.end();
  for (auto it = candidates.begin(); it != candidates.end(); ++it) {
    if (!alike(table, point, it->second, column)) continue;
    if (found != candidates.end()) return candidates.end();
    found = it;
  }
  return found;
}

std::vector<std::string> others(const PointTable& table, std::size_t point, std::size_t column) {
  std::vector<std::string> out = table.points[point].labels;
  if (column < out.size()) out[column].clear();
  return out;
}

}  // namespace

PointLabels::PointLabels(const PointTable& table) : table_(table) {
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (differ(table, c)) shown_.push_back(c);
  if (shown_.empty() && !table.columns.empty()) shown_.push_back(0);
}

std::vector<Column> PointLabels::columns() const {
  std::vector<Column> out;
  for (const std::size_t c : shown_)
    out.push_back({printable(table_.columns[c].name),
                   table_.columns[c].numeric ? Align::right : Align::left});
  return out;
}

std::vector<std::string> PointLabels::cells(std::size_t point) const {
  std::vector<std::string> out;
  for (const std::size_t c : shown_) {
    const std::string_view label = label_at(table_, point, c);
    out.push_back(label.empty() ? "-" : printable(label));
  }
  return out;
}

Row PointLabels::row(std::size_t point) const {
  const std::vector<std::string> texts = cells(point);
  return {texts.begin(), texts.end()};
}

std::string PointLabels::text(std::size_t point) const {
  if (shown_.size() == 1) return printable(label_at(table_, point, shown_.front()));
  std::vector<std::string> parts;
  for (const std::size_t c : shown_)
    if (const std::string_view label = label_at(table_, point, c); !label.empty())
      parts.push_back(printable(table_.columns[c].name) + ' ' + printable(label));
  return join(parts);
}

Expected<Baseline> baseline_of_points(const PointTable& table, const std::string& text) {
  std::string label = text;
  std::vector<std::size_t> columns = columns_with(table, text);
  if (const auto equals = text.find('='); columns.empty() && equals != std::string::npos) {
    label = text.substr(equals + 1);
    columns = columns_with(table, label);
    std::erase_if(columns,
                  [&](std::size_t c) { return table.columns[c].name != text.substr(0, equals); });
  }
  if (columns.empty())
    return Unexpected(
        fmt::format("no point is labelled '{}' ({})", printable(text), known_labels(table)));
  const auto column_name = [&](std::size_t i) { return printable(table.columns[columns[i]].name); };
  if (columns.size() > 1)
    return Unexpected(fmt::format("'{}' is a label of {} and of {}; write {}={}", printable(label),
                                  column_name(0), column_name(1), column_name(0),
                                  printable(label)));
  const std::size_t column = columns.front();
  ByLabels by_others;
  for (std::size_t p = 0; p < table.points.size(); ++p)
    if (label_at(table, p, column) == label) by_others.emplace(others(table, p, column), p);
  Baseline out{.name = printable(label), .records = {}};
  for (std::size_t p = 0; p < table.points.size(); ++p) {
    ByLabels::const_iterator it = by_others.find(others(table, p, column));
    if (it == by_others.end()) it = only_like(table, p, column, by_others);
    out.records.push_back(it == by_others.end() ? nullptr : table.points[it->second].record);
  }
  return out;
}

}  // namespace tiersim
