#pragma once
// The speed-up of one variant of a step over another on the same devices: the ratio of their tokens
// per second as a product of factors. Each factor is the effect of exchanging one ingredient:
//
//   bytes        bytes of the cache that attention reads and stores
//   flops        attention FLOPs that contribute to its result
//   padding      other FLOPs of its tiles
//   weights      products with weights: projections, MLP, head
//   batch        sequences in the step
//   collectives  exchanges between GPUs
//
// The effect of an ingredient depends on those exchanged before it: a saved byte is worth nothing
// if arithmetic is the limit. So each factor is the geometric mean over all orders of exchange,
// that is, its Shapley value (Shapley 1953) over the logarithm of the ratio. No order is preferred,
// an ingredient without effect has the factor 1, and the product is the ratio.
//
// Valid if the operations of a step run one after another without contention, so that its time is
// the sum of theirs (which the engine also gives, within 1 ps an operation): a cache in the GPU's
// own memory that is read without screening, overlap: serial, no pipeline, no handover; and if both
// variants run on the same devices.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sim/base/expected.hpp"
#include "sim/record/speedup_record.hpp"
#include "sim/step/scenario.hpp"

namespace tiersim {

/// Two variants of a step, each at two batches.
class StepPair {
 public:
  /// The error names the part of a scenario that cannot be factored. The configs may be destroyed
  /// afterwards.
  static Expected<StepPair> make(const ScenarioConfig& base, const ScenarioConfig& other,
                                 std::int64_t base_batch, std::int64_t other_batch);

  /// The speed-up with these tiles of the attention kernel and this host time in every step, in
  /// place of those of the scenarios.
  Speedup speedup(const AttentionKernelConfig& kernel, Duration host) const;

 private:
  // One variant at one batch.
  struct Side {
    Op attention;  // one of the equal attention operations
    std::int64_t attentions = 0;
    StepKind kind = StepKind::decode;
    // Query rows that share keys, before padding; 0 in a prefill, whose positions fill its tiles.
    std::int64_t rows = 0;
    std::int64_t value_width = 0;
    std::int64_t tokens = 0;
    Duration stores{};
    Duration weights{};
    Duration collectives{};
    std::array<Duration, kStepLimitNames.size()> limits{};  // of all operations but attention
  };
  using Choice = std::array<std::size_t, kIngredientNames.size()>;  // 0 base, 1 other

  static Expected<Side> side(const ScenarioConfig& config, const System& system,
                             std::int64_t batch);
  const Side& from(const Choice& choice, Ingredient ingredient) const;
  Op attention(const Choice& choice, const AttentionKernelConfig& kernel) const;
  double rate(const Choice& choice, const AttentionKernelConfig& kernel, Duration host) const;
  StepRate rate_of(std::size_t way, const AttentionKernelConfig& kernel, Duration host) const;

  std::shared_ptr<const System> system_;
  std::array<std::array<Side, 2>, 2> sides_;  // by variant and batch
  std::array<std::int64_t, 2> batches_{};
};

}  // namespace tiersim
