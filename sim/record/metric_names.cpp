#include "sim/record/metric_names.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/record/metrics.hpp"

namespace tiersim {
namespace {

constexpr std::array<std::string_view, 9> kUnitSuffixes{
    "_tokens_per_s", "_requests_per_s", "_per_s",          "_s",     "_bytes",
    "_flops",        "_j_per_token",    "_usd_per_mtoken", "_tokens"};

// Adds the names in a record that the definition covers.
void add_names(const MetricDefinition& definition, std::vector<std::string>& names) {
  const std::string all(definition.name);
  const std::size_t brace = all.find('{');
  if (brace == std::string::npos) return names.push_back(all);
  for (std::size_t at = brace + 1; at < all.size();) {
    const std::size_t end = all.find_first_of(",}", at);
    names.push_back(all.substr(0, brace) + all.substr(at, end - at));
    at = end + 1;
  }
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const MetricDefinition& definition : kMetrics) add_names(definition, names);
  return names;
}

// True where `name` is the metric's name without its unit.
bool is_short_for(std::string_view name, std::string_view metric) {
  const std::size_t dot = std::min(metric.find('.'), metric.size());
  const std::string_view stem = metric.substr(0, dot);
  const std::string_view statistic = metric.substr(dot);
  return std::ranges::any_of(kUnitSuffixes, [&](std::string_view suffix) {
    return stem.size() > suffix.size() && stem.ends_with(suffix) &&
           name ==
               std::string(stem.substr(0, stem.size() - suffix.size())) + std::string(statistic);
  });
}

std::string hint_for(const std::string& name, const std::vector<std::string>& names) {
  std::vector<std::string> words = names;  // with their short forms
  std::vector<std::string> similar;
  for (const std::string& full : names) {
    const std::size_t dot = std::min(full.find('.'), full.size());
    for (const std::string_view suffix : kUnitSuffixes)
      if (full.substr(0, dot).ends_with(suffix))
        words.push_back(full.substr(0, dot - suffix.size()) + full.substr(dot));
    if (name.size() > 2 && full.find(name) != std::string::npos) similar.push_back(full);
  }
  if (const auto near = nearest(name, words); !near.empty())
    return fmt::format("did you mean '{}'?", near);
  if (!similar.empty()) return "one of: " + join(similar);
  return "`tiersim list metrics` names them";
}

}  // namespace

Expected<std::string> resolve_metric(const std::string& name) {
  if (find_metric(name) != nullptr && name.find('{') == std::string::npos) return name;
  const std::vector<std::string> names = all_names();
  std::vector<std::string> meant;
  std::vector<std::string> statistics;
  for (const std::string& full : names) {
    if (is_short_for(name, full)) meant.push_back(full);
    const std::size_t dot = full.find('.');
    const std::string stem = full.substr(0, dot);
    if (dot != std::string::npos && (stem == name || is_short_for(name, stem)))
      statistics.push_back(full);
  }
  if (meant.size() == 1) return meant.front();
  if (meant.size() > 1)
    return Unexpected(fmt::format("'{}' may be several metrics (one of: {})", name, join(meant)));
  if (!statistics.empty())
    return Unexpected(
        fmt::format("'{}' has several statistics (one of: {})", name, join(statistics)));
  return Unexpected(fmt::format("there is no metric '{}' ({})", name, hint_for(name, names)));
}

std::string short_metric(const std::string& definition) {
  const std::size_t dot = std::min(definition.find('.'), definition.size());
  const std::string stem = definition.substr(0, dot);
  for (const std::string_view suffix : kUnitSuffixes) {
    if (stem.size() <= suffix.size() || !stem.ends_with(suffix)) continue;
    const std::string head = stem.substr(0, stem.size() - suffix.size());
    // ".{mean,p50}" stands for ".mean" and others.
    const std::size_t comma = std::min(definition.find_first_of(",}", dot), definition.size());
    std::string one = definition.substr(dot, comma - dot);
    std::erase(one, '{');
    const auto meant = resolve_metric(head + one);
    if (meant && *meant == stem + one) return head + definition.substr(dot);
  }
  return "";
}

}  // namespace tiersim
