#include "sim/sweep/space_sample.hpp"

#include <utility>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/sweep/latin_hypercube.hpp"
#include "sim/sweep/sampling.hpp"

namespace tiersim {
namespace {

using Sampled = Expected<std::vector<SampledPoint>, SampleProblem>;

// Limit of the labels in a message.
constexpr std::size_t kMostNamed = 3;

bool has_range(const AxisGroup& group) {
  return group.axes.size() == 1 && group.axes.front().range.has_value();
}

std::int64_t size_of(const SpaceGrid& grid) {
  std::int64_t size = 1;
  for (const AxisGroup& group : grid.groups) size *= group.size;
  return grid.groups.empty() ? 0 : size;
}

// The place of a position in the product, in which the last axis changes fastest.
GridPlace place_at(const SpaceGrid& grid, std::int64_t position) {
  GridPlace place(grid.groups.size());
  for (std::size_t g = place.size(); g-- > 0;) {
    place[g].index = position % grid.groups[g].size;
    position /= grid.groups[g].size;
  }
  return place;
}

GridPlace to_place(const LatinPoint& latin, std::int64_t points) {
  GridPlace place;
  for (const LatinCell& cell : latin) place.push_back({cell.choice, cell.share, points});
  return place;
}

// "none of them has method = 'A' or 'B'", "none was found in 10 of the 20 parts of 'batch', of
// which the first begins at 50000".
std::string empty_text(const AxisGroup& group, const LatinProblem::Empty& empty,
                       std::int64_t points) {
  const AxisChoices& axis = group.axes.front();
  if (has_range(group)) {
    const double begin = static_cast<double>(empty.parts.front()) / static_cast<double>(points);
    return fmt::format(
        "none was found in {} of the {} parts of '{}', of which the first begins at {}",
        empty.parts.size(), points, axis.name, axis.range->label_at(begin, points));
  }
  std::vector<std::string> labels;
  for (const std::int64_t part : empty.parts)
    if (labels.size() < kMostNamed)
      labels.push_back(axis.choices[static_cast<std::size_t>(part)].label);
  std::string text = join(labels, " or ");
  if (empty.parts.size() > labels.size())
    text += fmt::format(" or {} more", empty.parts.size() - labels.size());
  return fmt::format("none was found with {} = {}", axis.name, text);
}

SampleProblem problem_text(const SpaceGrid& grid, const LatinProblem& problem,
                           std::int64_t points) {
  SampleProblem out{
      .message = fmt::format("only {} of {} points could be placed", problem.placed, points),
      .hint = "method: random, weaker filters, or axes that they do not cut"};
  if (problem.empty.empty())
    out.message += "; every part of every axis has some, but not all at once";
  for (const LatinProblem::Empty& empty : problem.empty)
    out.message += "; " + empty_text(grid.groups[empty.axis], empty, points);
  return out;
}

Sampled random_sample(const CompiledSpace& space, const SweepSample& sample, Rng& rng) {
  PointMaker maker(space.columns);
  SpacePoint point;
  const auto locate = [&](std::int64_t position) {
    std::size_t grid = 0;
    while (position >= size_of(space.grids[grid])) position -= size_of(space.grids[grid++]);
    return SampledPoint{grid, place_at(space.grids[grid], position)};
  };
  const auto found =
      random_positions(space.candidates, sample.points, rng, [&](std::int64_t position) {
        const SampledPoint at = locate(position);
        return maker.make(space.grids[at.grid], at.place, point);
      });
  if (!found) return Unexpected(SampleProblem{found.error(), "fewer points, or weaker filters"});
  std::vector<SampledPoint> out;
  for (const std::int64_t position : *found) out.push_back(locate(position));
  return out;
}

Expected<std::vector<LatinPoint>, SampleProblem> latin_sample(const CompiledSpace& space,
                                                              const SpaceGrid& grid,
                                                              std::int64_t points, Rng& rng) {
  std::vector<std::int64_t> choices;
  bool discrete = true;
  for (const AxisGroup& group : grid.groups) {
    choices.push_back(has_range(group) ? 0 : group.size);
    discrete = discrete && !has_range(group);
  }
  if (discrete && points > size_of(grid))
    return Unexpected(SampleProblem{fmt::format("the axes have only {} points", size_of(grid)),
                                    "fewer points, or more values"});
  PointMaker maker(space.columns);
  SpacePoint point;
  const auto name_of = [&](const LatinPoint& latin) -> std::optional<std::string> {
    if (!maker.make(grid, to_place(latin, points), point)) return std::nullopt;
    std::string name;
    for (const std::string& label : point.labels) name += label + '\n';
    return name;
  };
  auto drawn = latin_hypercube(choices, points, rng, name_of);
  if (!drawn) return Unexpected(problem_text(grid, drawn.error(), points));
  return *std::move(drawn);
}

// Every grid gets the same number of points, give or take one.
Sampled latin_samples(const CompiledSpace& space, const SweepSample& sample, Rng& rng) {
  std::vector<SampledPoint> out;
  const auto count = static_cast<std::int64_t>(space.grids.size());
  for (std::size_t g = 0; g < space.grids.size(); ++g) {
    const SpaceGrid& grid = space.grids[g];
    const bool one_more = static_cast<std::int64_t>(g) < sample.points % count;
    const std::int64_t points = sample.points / count + (one_more ? 1 : 0);
    const auto drawn = latin_sample(space, grid, points, rng);
    if (!drawn) {
      SampleProblem problem = drawn.error();
      if (!grid.name.empty())
        problem.message = fmt::format("grid '{}': {}", grid.name, problem.message);
      return Unexpected(std::move(problem));
    }
    for (const LatinPoint& latin : *drawn) out.push_back({g, to_place(latin, points)});
  }
  return out;
}

}  // namespace

Expected<std::vector<SampledPoint>, SampleProblem> draw_sample(const CompiledSpace& space,
                                                               const SweepSample& sample) {
  Rng rng(static_cast<std::uint64_t>(sample.seed), "sweep.sample");
  return sample.method == SampleMethod::random ? random_sample(space, sample, rng)
                                               : latin_samples(space, sample, rng);
}

}  // namespace tiersim
