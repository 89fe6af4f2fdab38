#pragma once
// A share of the weights of every layer lies in the far tier, or is divided among several tiers.
// Embedding and head stay in the near tier.
//   copied      the copy engine brings a layer's part before the layer begins
//   prefetched  it brings the next layer's meanwhile (FlexGen, arXiv 2303.06865), into room for two
//   direct      kernels read them where they are; a kernel is one flow over all that it reads, so
//               where a copy slows its far reads on a link, its near reads slow down with them
// A copy brings all experts of a layer; a kernel reads only those that tokens reach. Nothing is
// prefetched from one step to the next, so the first layer of a step waits for its copy; each later
// stage of a pipeline that serves brings its first layer while the stage before works.
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/config/fields.hpp"
#include "workloads/llm/execution_config.hpp"
#include "workloads/llm/llm_config.hpp"
#include "workloads/llm/step_config.hpp"

namespace tiersim {

enum class WeightRead : std::uint8_t { copied, prefetched, direct };
inline constexpr std::array<std::string_view, 3> kWeightReadNames{"copied", "prefetched", "direct"};

struct FarWeights {
  double share = 0;  ///< 0: none are far
  WeightRead read = WeightRead::prefetched;
  std::map<std::string, double> tiers = {};  ///< parts of the share; empty: all in the far tier

  bool any() const { return share > 0; }
  bool are_copied() const { return any() && read != WeightRead::direct; }
  Bytes part_of(Bytes weights) const { return scale_down(weights, share); }
  /// Layers that a copy needs room for.
  std::int64_t layers_copied() const {
    if (!are_copied()) return 0;
    return read == WeightRead::prefetched ? 2 : 1;
  }
  friend bool operator==(const FarWeights&, const FarWeights&) = default;
};
void describe(Fields& f, FarWeights& c);

/// The far part of one layer of one GPU's part of a model.
Bytes far_layer(const FarWeights& far, const LlmConfig& model, std::int64_t layer,
                const StepConfig& step, const ExecutionConfig& execution);

/// The far part of all layers, and the room near that copies of the largest ones take.
struct FarWeightBytes {
  Bytes far;
  Bytes room;
};
FarWeightBytes far_weight_bytes(const FarWeights& far, const LlmConfig& model,
                                const StepConfig& step, const ExecutionConfig& execution);

}  // namespace tiersim
