#include "workloads/early_exit/early_exit_config.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "workloads/early_exit/exit_depths.hpp"

namespace tiersim {

void describe(Fields& f, ExitDepthConfig& c) {
  f.doc("The layer after which each token would leave alone.");
  f.optional("exit_rate", c.exit_rate, "Mean share of the layers that a token skips.",
             in_range(0.0, 1.0));
  f.optional("spread", c.spread,
             "Standard deviation of the depth in layers, before it is rounded and clipped.",
             Limits{.low = 0.0, .high = 1000.0, .low_open = true});
  f.optional("correlation", c.correlation,
             "Correlation between the tokens of an iteration (Gaussian copula).",
             in_range(0.0, 1.0));
  f.optional("decay", c.decay,
             "Share of the exit rate that the first token of an answer lacks, as thresholds decay.",
             in_range(0.0, 1.0));
  f.optional("traced", c.traced, "Depths of the tokens of each request, from 1.",
             at_least(std::int64_t{1}));
  f.importable("depth_trace", "File of depths, a line for each request: `traced`.");
  const ExitDepthConfig fresh;
  const bool traced = !c.traced.empty();
  f.check(traced || c.exit_rate, "exit_rate", "is missing",
          "state the mean share of layers that a token skips, or give a depth_trace");
  f.check(!traced || !c.exit_rate, "exit_rate", "stands beside a depth trace",
          "depths are drawn or come from a file: leave one out");
  f.check(!traced || (c.spread == fresh.spread && c.correlation == fresh.correlation &&
                      c.decay == fresh.decay),
          "traced", "leaves nothing to draw, yet spread, correlation or decay is set",
          "leave them out");
  const bool filled =
      std::ranges::none_of(c.traced, [](const auto& request) { return request.empty(); });
  f.check(filled, "traced", "has a request without depths", "give it one for each token");
}

void describe(Fields& f, EarlyExitConfig& c) {
  f.doc("Tokens leave the decoder after the layer at which they are confident enough.");
  f.required("technique", c.technique, kExitTechniqueNames,
             "The signal by which a token may leave; full: no token leaves.");
  f.optional("rule", c.rule, kExitRuleNames, "What a batch does with tokens of different depth.");
  f.optional("buckets", c.buckets, "Batches that the rule `bucketed` makes of one; 2 by default.",
             in_range(1, 1024));
  f.optional("depths", c.depths, "Where tokens leave.");
  const std::string technique(kExitTechniqueNames[static_cast<std::size_t>(c.technique)]);
  const bool by_confidence = measures(c.technique);
  f.check(by_confidence || !c.depths, "depths",
          fmt::format("has no effect: under {} all tokens leave at the same layer", technique),
          "leave it out, or choose softmax, state or classifier");
  f.check(!by_confidence || c.depths, "depths", fmt::format("is missing for {}", technique),
          "state at least depths.exit_rate, or a depths.depth_trace");
  f.check(by_confidence || c.rule == ExitRule::all_rows, "rule",
          fmt::format("has no effect: under {} all tokens leave at the same layer", technique),
          "leave it out, or choose softmax, state or classifier");
  f.check(!c.buckets || c.rule == ExitRule::bucketed, "buckets",
          "has an effect under the rule bucketed only", "leave it out, or set rule: bucketed");
}

std::int64_t fixed_depth(ExitTechnique technique, std::int64_t layers) {
  return technique == ExitTechnique::static_half ? (layers + 1) / 2 : layers;
}

std::vector<ExitProblem> exit_problems(const EarlyExitConfig& config, std::int64_t layers) {
  std::vector<ExitProblem> out;
  if (!config.depths || layers < 1) return out;
  const ExitDepthConfig& depths = *config.depths;
  if (depths.exit_rate) {
    const auto n = static_cast<double>(layers);
    const double most = (n - 1) / n;
    const double highest = *depths.exit_rate * decay_peak(depths.decay);
    if (*depths.exit_rate > most)
      out.push_back({"depths.exit_rate",
                     fmt::format("leaves less than one of {} layers to a token", layers),
                     fmt::format("every token passes a layer: at most {:.4g}", most)});
    else if (highest > most)
      out.push_back({"depths.decay",
                     fmt::format("lets the last tokens skip a share of {:.3g}, which leaves less "
                                 "than one of {} layers",
                                 highest, layers),
                     "lower it, or the exit rate"});
  }
  std::int64_t deepest = 0;
  for (const auto& request : depths.traced)
    for (const std::int64_t depth : request) deepest = std::max(deepest, depth);
  if (deepest > layers)
    out.push_back({"depths.traced",
                   fmt::format("has a depth of {}, but the decoder has {} layers", deepest, layers),
                   "use a trace of this model"});
  return out;
}

}  // namespace tiersim
