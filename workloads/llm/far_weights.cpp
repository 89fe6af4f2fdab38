#include "workloads/llm/far_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads/llm/weight_parts.hpp"

namespace tiersim {

void describe(Fields& f, FarWeights& c) {
  f.doc("Weights that lie in far tiers.");
  f.required("share", c.share, "Of the weights of every layer; embedding and head stay near.",
             in_range(0.0, 1.0));
  f.optional("read", c.read, kWeightReadNames,
             "copied: before a layer begins; prefetched: while the layer before works; direct: "
             "kernels read them where they are.");
  f.optional("tiers", c.tiers,
             "Part of these weights in each tier, which add up to 1; by default all are in the far "
             "tier.");
  double sum = 0;
  for (const auto& [name, part] : c.tiers) {
    f.check(part > 0 && part <= 1, "tiers." + name, fmt::format("is {:g}", part),
            "above 0 and at most 1");
    sum += part;
  }
  f.check(c.tiers.empty() || std::abs(sum - 1) < 1e-9, "tiers",
          fmt::format("the parts add up to {:g}", sum), "parts that add up to 1");
}

Bytes far_layer(const FarWeights& far, const LlmConfig& model, std::int64_t layer,
                const StepConfig& step, const ExecutionConfig& execution) {
  const WeightParts parts = layer_weight_parts(model, layer);
  Bytes sum;
  for (std::size_t p = 0; p < parts.size(); ++p)
    sum += stored_part(static_cast<WeightPart>(p), parts[p], step, execution);
  return far.part_of(sum);
}

FarWeightBytes far_weight_bytes(const FarWeights& far, const LlmConfig& model,
                                const StepConfig& step, const ExecutionConfig& execution) {
  FarWeightBytes out;
  if (!far.any()) return out;
  Bytes largest;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const Bytes bytes = far_layer(far, model, layer, step, execution);
    out.far += bytes;
    largest = std::max(largest, bytes);
  }
  out.room = largest * std::min(far.layers_copied(), model.layers);
  return out;
}

}  // namespace tiersim
