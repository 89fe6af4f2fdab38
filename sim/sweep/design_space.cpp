#include "sim/sweep/design_space.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/sweep/space_builder.hpp"
#include "sim/sweep/space_sample.hpp"

namespace tiersim {
namespace {

// Limit of the candidates that are tried before anything runs, to detect a space without points.
constexpr std::int64_t kMostTried = 1'000'000;

// Moves to the next place; false after the last.
bool advance(const SpaceGrid& grid, GridPlace& place) {
  for (std::size_t g = place.size(); g-- > 0;) {
    if (++place[g].index < grid.groups[g].size) return true;
    place[g].index = 0;
  }
  return false;
}

class Space final : public DesignSpace {
 public:
  Space(CompiledSpace space, const Document& document) : space_(std::move(space)) {
    Diagnostics none;
    const SpecPlaces places(document, none);
    const auto keep = [&](const PlacedExpression& placed) {
      origins_.emplace(placed.path, places.fault(placed.path, {}));
    };
    for (const SpaceGrid& grid : space_.grids) {
      for (const DerivedColumn& derived : grid.derived) keep(derived.value);
      for (const PlacedExpression& filter : grid.early_filters) keep(filter);
      for (const PlacedExpression& filter : grid.filters) keep(filter);
    }
  }

  const std::vector<SpaceColumn>& columns() const override { return space_.columns.columns; }
  std::int64_t candidates() const override {
    return space_.candidates + static_cast<std::int64_t>(space_.included.size());
  }

  std::optional<Diagnostic> for_each(
      const std::function<bool(const SpacePoint&)>& visit) const override {
    try {
      Walk walk{PointMaker(space_.columns), visit, included_points()};
      const bool more = sample_ ? visit_sample(walk) : visit_product(walk);
      if (more) visit_included(walk);
    } catch (const PointMaker::Fault& fault) {
      return diagnostic(fault);
    }
    return std::nullopt;
  }

  std::size_t grids() const override { return space_.grids.size(); }
  std::vector<std::int64_t> sizes(std::size_t grid) const override {
    std::vector<std::int64_t> out;
    for (const AxisGroup& group : space_.grids.at(grid).groups) out.push_back(group.size);
    return out;
  }
  std::optional<SpacePoint> at(std::size_t grid, const Coordinates& place) const override {
    TS_EXPECTS(grid < space_.grids.size(), grid);
    const SpaceGrid& of = space_.grids[grid];
    TS_EXPECTS(place.size() == of.groups.size(), place.size());
    GridPlace chosen;
    for (std::size_t g = 0; g < place.size(); ++g) {
      TS_EXPECTS(place[g] >= 0 && place[g] < of.groups[g].size, place[g]);
      chosen.push_back({.index = place[g]});
    }
    SpacePoint point;
    try {
      if (!PointMaker(space_.columns).make(of, chosen, point)) return std::nullopt;
    } catch (const PointMaker::Fault&) {
      return std::nullopt;
    }
    return point;
  }

  /// Nothing if there is any point; else the mistake, also if the first point cannot be made.
  std::optional<Diagnostic> find_any(const Location& where) const {
    std::int64_t tried = 0;
    try {
      static_cast<void>(included_points());
      PointMaker maker(space_.columns);
      SpacePoint point;
      for (const SpaceGrid& grid : space_.grids) {
        GridPlace place(grid.groups.size());
        if (grid.groups.empty()) continue;
        do {
          if (maker.make(grid, place, point) || ++tried == kMostTried) return std::nullopt;
        } while (advance(grid, place));
      }
    } catch (const PointMaker::Fault& fault) {
      return diagnostic(fault);
    }
    if (!space_.included.empty()) return std::nullopt;
    return Diagnostic{where, fmt::format("none of the {} points is left", tried),
                      "filter and exclude take all of them away"};
  }

  /// Chooses the points of a sample; returns the mistake if that is impossible.
  std::optional<Diagnostic> draw(const SweepSample& sample, const Location& where) {
    try {
      auto drawn = draw_sample(space_, sample);
      if (!drawn) return Diagnostic{where, drawn.error().message, drawn.error().hint};
      sample_ = *std::move(drawn);
    } catch (const PointMaker::Fault& fault) {
      return diagnostic(fault);
    }
    return std::nullopt;
  }

 private:
  struct Walk {
    PointMaker maker;
    const std::function<bool(const SpacePoint&)>& visit;
    std::vector<SpacePoint> included;  // those not found in the product
    std::int64_t position = 0;
    SpacePoint point = {};
  };

  bool offer(Walk& walk) const {
    std::erase_if(walk.included, [&](const SpacePoint& other) {
      return other.labels == walk.point.labels && other.scenario == walk.point.scenario;
    });
    walk.point.position = walk.position++;
    return walk.visit(walk.point);
  }
  bool visit_product(Walk& walk) const {
    for (const SpaceGrid& grid : space_.grids) {
      GridPlace place(grid.groups.size());
      if (grid.groups.empty()) continue;
      do {
        if (walk.maker.make(grid, place, walk.point) && !offer(walk)) return false;
      } while (advance(grid, place));
    }
    return true;
  }
  bool visit_sample(Walk& walk) const {
    return std::ranges::all_of(*sample_, [&](const SampledPoint& sampled) {
      const bool passes = walk.maker.make(space_.grids[sampled.grid], sampled.place, walk.point);
      TS_INVARIANT(passes, walk.position);
      return offer(walk);
    });
  }
  void visit_included(Walk& walk) const {
    while (!walk.included.empty()) {
      walk.point = walk.included.front();  // the same point may be listed twice
      if (!offer(walk)) return;
    }
  }
  std::vector<SpacePoint> included_points() const {
    std::vector<SpacePoint> out;
    PointMaker maker(space_.columns);
    for (const IncludedPoint& included : space_.included)
      maker.make(space_.grids[included.grid], included.choices, out.emplace_back());
    return out;
  }

  Diagnostic diagnostic(const PointMaker::Fault& fault) const {
    Diagnostic out = origins_.at(fault.path);
    out.where.column += static_cast<int>(fault.error.offset);
    out.message = fmt::format("{} at {}", fault.error.message, fault.point);
    out.hint = fault.error.hint;
    return out;
  }

  CompiledSpace space_;
  std::optional<std::vector<SampledPoint>> sample_;
  std::map<std::string, Diagnostic> origins_;  // of every expression, by path
};

// Marks the axes on which every label, in all grids, is a number of one dimension.
void find_numeric_axes(CompiledSpace& space) {
  std::map<std::size_t, std::set<std::string>> kinds;
  const auto add = [&](std::size_t column, const ExpressionValue& value) {
    const auto* number = std::get_if<Magnitude>(&value);
    kinds[column].insert(number == nullptr ? "text" : "in " + number->dimension);
  };
  for (const SpaceGrid& grid : space.grids)
    for (const AxisGroup& group : grid.groups)
      for (std::size_t a = 0; a < group.axes.size(); ++a)
        for (const AxisChoice& choice : group.axes[a].choices) add(group.columns[a], choice.value);
  for (const IncludedPoint& point : space.included) {
    std::size_t next = 0;
    for (const AxisGroup& group : space.grids[point.grid].groups)
      for (const std::size_t column : group.columns) add(column, point.choices[next++].value);
  }
  for (const auto& [column, found] : kinds)
    space.columns.columns[column].numeric = found.size() == 1 && !found.contains("text");
}

}  // namespace

std::unique_ptr<DesignSpace> DesignSpace::build(const SweepConfig& config, const Document& document,
                                                Diagnostics& diagnostics, const IsCount& is_count) {
  Diagnostics own;
  const auto failed = [&]() -> std::unique_ptr<DesignSpace> {
    for (Diagnostic& diagnostic : own.list()) diagnostics.report(std::move(diagnostic));
    return nullptr;
  };
  const SpecPlaces places(document, own, diagnostics);
  CompiledSpace compiled;
  AxisBuilder axes(config, places, is_count);
  axes.build(compiled);
  SpaceBuilder(config, places, axes.broken()).build(compiled);
  if (!own.ok() || !diagnostics.ok()) return failed();
  find_numeric_axes(compiled);
  auto space = std::make_unique<Space>(std::move(compiled), document);
  if (auto problem = space->find_any(document.locate("axes"))) own.report(std::move(*problem));
  if (own.ok() && config.sample)
    if (auto problem = space->draw(*config.sample, document.locate("sample")))
      own.report(std::move(*problem));
  if (!own.ok()) return failed();
  return space;
}

}  // namespace tiersim
