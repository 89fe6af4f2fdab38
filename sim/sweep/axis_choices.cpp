#include "sim/sweep/axis_choices.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

AxisChoice value_of_key(const std::string& key, const std::string& label, std::string path) {
  return {.label = label,
          .value = expression_value(label),
          .set = {key + '=' + label},
          .path = std::move(path)};
}

template <class Range>
std::optional<ValueRange> parse_range(const Range& range, const std::string& path, bool whole,
                                      const SpecPlaces& places) {
  auto parsed = ValueRange::parse(range, whole);
  if (parsed) return *parsed;
  const RangeProblem& problem = parsed.error();
  places.report(problem.field.empty() ? path : path + '.' + problem.field, problem.message,
                problem.hint);
  return std::nullopt;
}

// Reports labels of one axis that stand for the same value.
void expect_distinct(const AxisChoices& axis, const SpecPlaces& places) {
  std::map<std::string, const AxisChoice*> seen;
  for (const AxisChoice& choice : axis.choices) {
    const std::string value = label_text(choice.value);
    const auto [it, is_new] = seen.emplace(value, &choice);
    if (is_new && !choice.label.empty()) continue;
    const std::string first =
        is_new || it->second->label == choice.label ? "" : "it is " + it->second->label;
    places.report(choice.path,
                  is_new ? "an empty value" : fmt::format("'{}' stands there twice", choice.label),
                  first);
  }
}

}  // namespace

std::optional<std::size_t> AxisChoices::find(const std::string& label) const {
  const auto same = std::ranges::find(choices, label, &AxisChoice::label);
  if (same != choices.end()) return static_cast<std::size_t>(same - choices.begin());
  if (key.empty()) return std::nullopt;
  const auto equal = std::ranges::find(choices, expression_value(label), &AxisChoice::value);
  if (equal == choices.end()) return std::nullopt;
  return static_cast<std::size_t>(equal - choices.begin());
}

std::vector<std::string> AxisChoices::labels() const {
  std::vector<std::string> all;
  for (const AxisChoice& choice : choices) all.push_back(choice.label);
  return all;
}

std::optional<AxisChoice> AxisChoices::choose(const std::string& label) const {
  if (const auto at = find(label)) return choices[*at];
  if (key.empty()) return std::nullopt;
  return value_of_key(key, label, path);
}

AxisChoice AxisChoices::choose_at(double share, std::int64_t parts) const {
  TS_EXPECTS(range.has_value() && !key.empty(), name);
  return value_of_key(key, range->label_at(share, parts), path);
}

std::optional<AxisChoices> expand_axis(const SweepAxis& axis, const std::string& path, bool whole,
                                       const SpecPlaces& places) {
  AxisChoices out{.name = axis_name(axis), .key = axis.key, .path = path};
  for (std::size_t i = 0; i < axis.variants.size(); ++i) {
    const SweepVariant& variant = axis.variants[i];
    out.choices.push_back({.label = variant.label,
                           .value = variant.label,
                           .set = variant.set,
                           .scenario = variant.scenario,
                           .path = fmt::format("{}.variants.{}", path, i)});
  }
  for (std::size_t i = 0; i < axis.values.size(); ++i)
    out.choices.push_back(
        value_of_key(axis.key, axis.values[i], fmt::format("{}.values.{}", path, i)));
  const std::string range_path = path + (axis.range ? ".range" : ".log_range");
  if (axis.range) out.range = parse_range(*axis.range, range_path, whole, places);
  if (axis.log_range) out.range = parse_range(*axis.log_range, range_path, whole, places);
  if ((axis.range || axis.log_range) && !out.range) return std::nullopt;
  if (out.range)
    for (const std::string& label : out.range->labels())
      out.choices.push_back(value_of_key(axis.key, label, range_path));
  if (out.choices.empty()) return std::nullopt;
  expect_distinct(out, places);
  return out;
}

}  // namespace tiersim
