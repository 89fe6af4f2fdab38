#include "workloads/early_exit/exit_plan.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

std::int64_t size_of(std::span<const std::int64_t> depths) {
  return static_cast<std::int64_t>(depths.size());
}

class Planner {
 public:
  Planner(const EarlyExitConfig& config, std::int64_t layers)
      : measures_(measures(config.technique)) {
    plan_.filled_at_end.resize(static_cast<std::size_t>(layers));
    plan_.head_batches = config.technique == ExitTechnique::softmax ? 0 : 1;
  }

  // Sequences in rising order of depth that stay together until the last one may exit.
  void together(std::span<const std::int64_t> depths) {
    if (depths.empty()) return;
    for (std::int64_t layer = 0; layer < layers(); ++layer)
      layer < depths.back() ? run(layer, size_of(depths), 0) : fill(layer, size_of(depths));
  }

  // Sequences that exited are filled beside a layer that others run (`beside`), or at the end.
  void alone(std::span<const std::int64_t> depths, bool beside) {
    std::int64_t left = 0;
    for (std::int64_t layer = 0; layer < layers(); ++layer) {
      while (left < size_of(depths) && depths[static_cast<std::size_t>(left)] <= layer) ++left;
      const std::int64_t rows = size_of(depths) - left;
      if (rows > 0) run(layer, rows, beside ? left : 0);
      if (rows == 0 || !beside) fill(layer, left);
    }
  }

  void bucketed(std::span<const std::int64_t> depths, std::int64_t buckets) {
    const std::int64_t all = size_of(depths);
    for (std::int64_t b = 0; b < buckets; ++b) {
      const std::int64_t first = all * b / buckets;
      together(depths.subspan(static_cast<std::size_t>(first),
                              static_cast<std::size_t>(all * (b + 1) / buckets - first)));
    }
  }

  ExitPlan plan() && { return std::move(plan_); }

 private:
  std::int64_t layers() const { return static_cast<std::int64_t>(plan_.filled_at_end.size()); }

  void run(std::int64_t layer, std::int64_t rows, std::int64_t filled) {
    plan_.layers.push_back({.layer = static_cast<int>(layer),
                            .rows = rows,
                            .measured = measures_ ? rows : 0,
                            .filled = filled});
    plan_.depth = std::max(plan_.depth, layer + 1);
    if (measures_) ++plan_.decisions;
  }
  void fill(std::int64_t layer, std::int64_t rows) {
    plan_.filled_at_end[static_cast<std::size_t>(layer)] += rows;
  }

  bool measures_;
  ExitPlan plan_;
};

}  // namespace

ExitPlan plan_exits(const EarlyExitConfig& config, std::int64_t layers,
                    std::span<const std::int64_t> depths) {
  TS_EXPECTS(layers >= 1 && !depths.empty(), layers, depths.size());
  std::vector<std::int64_t> sorted(depths.begin(), depths.end());
  if (!measures(config.technique)) std::ranges::fill(sorted, fixed_depth(config.technique, layers));
  std::ranges::sort(sorted);
  TS_EXPECTS(sorted.front() >= 1 && sorted.back() <= layers, sorted.front(), sorted.back(), layers);
  Planner planner(config, layers);
  switch (config.rule) {
    case ExitRule::all_rows:
      planner.together(sorted);
      break;
    case ExitRule::per_sequence:
      planner.alone(sorted, false);
      break;
    case ExitRule::bucketed:
      planner.bucketed(sorted, config.buckets.value_or(2));
      break;
    case ExitRule::parallel_fill:
      planner.alone(sorted, true);
      break;
  }
  return std::move(planner).plan();
}

FillWork fill_at_end(const ExitPlan& plan) {
  FillWork work;
  for (const std::int64_t rows : plan.filled_at_end) {
    work.layers += rows > 0 ? 1 : 0;
    work.rows = std::max(work.rows, rows);
    work.pairs += rows;
  }
  return work;
}

}  // namespace tiersim
