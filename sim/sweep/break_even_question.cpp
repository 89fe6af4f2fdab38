// BreakEvenQuestion of break_even.hpp: the question of a SPEC, checked.
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/record/metric_names.hpp"
#include "sim/runner/runnable.hpp"
#include "sim/sweep/break_even.hpp"
#include "sim/sweep/metric_mistake.hpp"
#include "sim/sweep/spec_places.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kMostNames = 12;

// "did you mean 'MAPLE'? one of: MAPLE, Quest"
std::string names_hint(const std::string& name, const std::vector<std::string>& names) {
  std::vector<std::string> some = names;
  if (some.size() > kMostNames) some.resize(kMostNames);
  const std::string all =
      "one of: " + join(some) +
      (names.size() > some.size() ? fmt::format(" and {} more", names.size() - some.size()) : "");
  const auto near = nearest(name, names);
  return near.empty() ? all : fmt::format("did you mean '{}'? {}", near, all);
}

// The position of an axis among the columns; reports a name of none.
std::optional<std::size_t> column_named(const DesignSpace& space, const std::string& axis,
                                        const std::string& path, const SpecPlaces& places) {
  std::vector<std::string> names;
  for (const SpaceColumn& column : space.columns()) names.push_back(column.name);
  const auto found = std::ranges::find(names, axis);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  places.report(path, fmt::format("there is no axis '{}'", axis), names_hint(axis, names));
  return std::nullopt;
}

class QuestionChecker {
 public:
  QuestionChecker(const SweepBreakEven& asked, const SweepConfig& config, const SpecPlaces& places)
      : asked_(asked), config_(config), places_(places) {}

  void labels(const DesignSpace& space, std::size_t axis) const {
    std::vector<std::string> labels;
    const auto problem = space.for_each([&](const SpacePoint& point) {
      const std::string& label = point.labels[axis];
      if (!label.empty() && std::ranges::find(labels, label) == labels.end())
        labels.push_back(label);
      return true;
    });
    if (problem) return;  // reported elsewhere
    const auto missing = [&](const std::string& label) {
      return std::ranges::find(labels, label) == labels.end();
    };
    const std::string path = "break_even.against";
    for (const auto& [label, reference] : asked_.against) {
      if (missing(label))
        places_.report_key(path, label, fmt::format("'{}' has no '{}'", asked_.axis, label),
                           names_hint(label, labels));
      if (missing(reference))
        places_.report_value(path, label, fmt::format("'{}' has no '{}'", asked_.axis, reference),
                             names_hint(reference, labels));
      else if (label == reference)
        places_.report_value(path, label, fmt::format("'{}' is its own reference", label));
    }
  }

  // The full name of the metric.
  std::optional<std::string> metric() const {
    const bool maximize = !asked_.maximize.empty();
    const std::string& name = maximize ? asked_.maximize : asked_.minimize;
    const std::string path = maximize ? "break_even.maximize" : "break_even.minimize";
    if (config_.reading < SweepReading::times)
      places_.report("reading", "a break-even needs times", "reading: times, or all for intervals");
    auto metric = resolve_metric(name);
    if (!metric) {
      const auto [message, hint] = metric_mistake(metric.error());
      places_.report(path, message, hint);
      return std::nullopt;
    }
    return *std::move(metric);
  }

  void no_search() const {
    if (config_.search)
      places_.report("break_even", "stands beside a search, which runs few points of an axis",
                     "remove one of them");
  }

  // The range of the setting, which each point that is asked about must take.
  std::optional<SettingRange> range(const SpacePoint& point, const PointLoader& loader) const {
    const auto with = [&](const std::string& value) {
      Point out{point.scenario, point.set};
      out.set.push_back(asked_.key + '=' + value);
      return out;
    };
    bool whole = false;
    for (std::size_t end = 0; end < 2; ++end) {
      Diagnostics own;
      const Document document = loader.load(with(asked_.between[end]), own);
      if (own.ok() && is_of_server(document)) {
        places_.report("break_even", "is of steps, and this sweep is of a server",
                       "tiersim solve finds a value of one server");
        return std::nullopt;
      }
      const Runnable config = read_runnable(document, own);
      if (!own.ok()) {
        report(own.list().front(), end);
        return std::nullopt;
      }
      whole = takes_whole_numbers(config, asked_.key);
    }
    auto range = SettingRange::parse(asked_.key, asked_.between[0], asked_.between[1], whole);
    if (range) return *std::move(range);
    places_.report("break_even.between", range.error());
    return std::nullopt;
  }

 private:
  void report(const Diagnostic& found, std::size_t end) const {
    const bool of_key = found.where.column <= static_cast<int>(asked_.key.size());
    places_.report(
        of_key ? std::string("break_even.key") : fmt::format("break_even.between.{}", end),
        found.message, found.hint);
  }

  const SweepBreakEven& asked_;
  const SweepConfig& config_;
  const SpecPlaces& places_;
};

}  // namespace

std::shared_ptr<const BreakEvenQuestion> BreakEvenQuestion::build(const SweepConfig& config,
                                                                  const DesignSpace& space,
                                                                  const Document& document,
                                                                  const PointLoader& loader,
                                                                  Diagnostics& diagnostics) {
  if (!config.break_even) return nullptr;
  Diagnostics own;
  const SpecPlaces places(document, own);
  const SweepBreakEven& asked = *config.break_even;
  const QuestionChecker check(asked, config, places);
  auto out = std::make_shared<BreakEvenQuestion>();
  check.no_search();
  const auto axis = column_named(space, asked.axis, "break_even.axis", places);
  if (axis) check.labels(space, *axis);
  const auto metric = check.metric();
  if (axis && own.ok()) {
    out->axis_ = *axis;
    out->against_ = asked.against;
    std::optional<SpacePoint> first;
    static_cast<void>(space.for_each([&](const SpacePoint& point) {
      if (asked.against.contains(point.labels[*axis])) first = point;
      return !first;
    }));
    if (first) out->range_ = check.range(*first, loader);
  }
  for (Diagnostic& diagnostic : own.list()) diagnostics.report(std::move(diagnostic));
  if (!own.ok() || !metric || !out->range_) return nullptr;
  out->metric_ = *metric;
  out->sense_ = asked.maximize.empty() ? Sense::minimize : Sense::maximize;
  out->find_references(space);
  return out;
}

std::string BreakEvenQuestion::place_of(const SpacePoint& point, const std::string& label) const {
  std::string out;
  for (std::size_t c = 0; c < point.labels.size(); ++c)
    out += (c == axis_ ? label : point.labels[c]) + '\n';
  return out;
}

void BreakEvenQuestion::find_references(const DesignSpace& space) {
  std::set<std::string> labels;
  for (const auto& [label, reference] : against_) labels.insert(reference);
  static_cast<void>(space.for_each([&](const SpacePoint& point) {
    const std::string& label = point.labels[axis_];
    if (labels.contains(label))
      references_.try_emplace(place_of(point, label), Point{point.scenario, point.set});
    return true;
  }));
}

std::optional<BreakEvenQuestion::Reference> BreakEvenQuestion::reference_of(
    const SpacePoint& point) const {
  const auto asked = against_.find(point.labels[axis_]);
  if (asked == against_.end()) return std::nullopt;
  const auto there = references_.find(place_of(point, asked->second));
  return Reference{asked->second, there == references_.end() ? nullptr : &there->second};
}

void check_summary(const SweepConfig& config, const DesignSpace& space, const Document& document,
                   Diagnostics& diagnostics) {
  if (!config.summary) return;
  const SpecPlaces places(document, diagnostics);
  column_named(space, config.summary->best, "summary.best", places);
  std::set<std::string> known{config.summary->best};
  for (std::size_t i = 0; i < config.summary->by.size(); ++i) {
    const std::string path = fmt::format("summary.by.{}", i);
    const std::string& axis = config.summary->by[i];
    if (column_named(space, axis, path, places) && !known.insert(axis).second)
      places.report(path, fmt::format("'{}' is named twice", axis));
  }
  if (config.objectives.empty())
    places.report("summary", "needs objectives", "objectives: [{maximize: throughput}]");
}

}  // namespace tiersim
