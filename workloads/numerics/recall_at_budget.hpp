#pragma once
// How well a method chooses rows at settings of one's own, on the heads of `tiersim numerics
// maple`: recall is the share chosen of as many rows with the highest exact scores. A simulated
// step has no text and so no accuracy; this is what stands beside its speed. It is that of
// synthetic heads without fine-tuning (synthetic_layer.hpp), not that of a trained model.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tiersim::numerics {

struct RecallQuestion {
  std::string method;     ///< maple, sparq, loki, quest, h2o or streaming_llm
  double share = 0;       ///< of the rows that is attended to, 0 to 1
  double rank_share = 0;  ///< maple, sparq, loki: screened components over head_dim
  std::int64_t page = 0;  ///< quest: positions

  auto operator<=>(const RecallQuestion&) const = default;
};

struct RecallAnswer {
  std::string setting;   ///< "rank 16"
  double recall = 0;     ///< mean over heads
  double deviation = 0;  ///< standard deviation over heads
};

/// Rows and components of the study's heads, on which settings are shares.
struct RecallHeads {
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t tokens = 0;
};
RecallHeads recall_heads();

/// One a question, of the same heads as the study with this seed. None where the study's heads
/// cannot be asked: another method, a share that is no whole number of components, no row at all.
std::vector<std::optional<RecallAnswer>> recall_at_budget(
    const std::vector<RecallQuestion>& questions, std::uint64_t seed);

}  // namespace tiersim::numerics
