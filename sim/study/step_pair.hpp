#pragma once
// Why one way to run a step is faster than another on the same devices: the ratio of their tokens a
// second, as a product of factors. Each factor is what one ingredient does when it is exchanged:
//
//   bytes        what attention reads and stores of the cache
//   flops        what attention computes for its result
//   padding      what its tiles compute besides
//   weights      products with weights: projections, MLP, head
//   batch        sequences in the step
//   collectives  exchanges between GPUs
//
// An ingredient's effect depends on which others were exchanged before it (a byte saved is worth
// nothing where arithmetic is the limit), so each factor is the geometric mean over all orders of
// exchanging them: its Shapley value (Shapley 1953) over the logarithm of the ratio. No order is
// preferred, an ingredient that changes nothing has the factor 1, and the product is the ratio.
//
// Valid where the operations of a step run one after another and nothing contends, so that its time
// is the sum of theirs (which the engine gives as well, within 1 ps an operation): a cache in the
// GPU's own memory that is read without screening, overlap: serial, no pipeline, no handover; and
// where both ways run on the same devices.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sim/base/expected.hpp"
#include "sim/record/speedup_record.hpp"
#include "sim/step/scenario.hpp"

namespace tiersim {

/// Two ways to run a step, each at two batches.
class StepPair {
 public:
  /// The error says what of a scenario cannot be factored. Configs must outlive nothing.
  static Expected<StepPair> make(const ScenarioConfig& base, const ScenarioConfig& other,
                                 std::int64_t base_batch, std::int64_t other_batch);

  /// With these tiles of the attention kernel, and this time of the host in every step, whatever
  /// the scenarios say of either.
  Speedup speedup(const AttentionKernelConfig& kernel, Duration host) const;

 private:
  // One way at one batch.
  struct Side {
    Op attention;  // one of them: all are alike
    std::int64_t attentions = 0;
    StepKind kind = StepKind::decode;
    // Query rows that share keys, before padding; 0 in a prefill, whose positions fill its tiles.
    std::int64_t rows = 0;
    std::int64_t value_width = 0;
    std::int64_t tokens = 0;
    Duration stores{};
    Duration weights{};
    Duration collectives{};
    std::array<Duration, kStepLimitNames.size()> limits{};  // of all but the attention
  };
  using Choice = std::array<std::size_t, kIngredientNames.size()>;  // 0 base, 1 other

  static Expected<Side> side(const ScenarioConfig& config, const System& system,
                             std::int64_t batch);
  const Side& from(const Choice& choice, Ingredient ingredient) const;
  Op attention(const Choice& choice, const AttentionKernelConfig& kernel) const;
  double rate(const Choice& choice, const AttentionKernelConfig& kernel, Duration host) const;
  StepRate rate_of(std::size_t way, const AttentionKernelConfig& kernel, Duration host) const;

  std::shared_ptr<const System> system_;
  std::array<std::array<Side, 2>, 2> sides_;  // way, batch
  std::array<std::int64_t, 2> batches_{};
};

}  // namespace tiersim
