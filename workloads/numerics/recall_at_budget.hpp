#pragma once
// Recall of a method at user-defined settings, on the heads of `tiersim numerics maple`: the share
// of the rows with the highest exact scores that are among as many chosen rows. A simulated step
// has no text and so no accuracy; this figure accompanies its speed. It is for synthetic heads
// without fine-tuning (synthetic_layer.hpp), not for a trained model.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tiersim::numerics {

struct RecallQuestion {
  std::string method;     ///< maple, sparq, loki, quest, h2o or streaming_llm
  double share = 0;       ///< share of the attended rows, 0 to 1
  double rank_share = 0;  ///< maple, sparq, loki: screened components over head_dim
  std::int64_t page = 0;  ///< quest: positions

  auto operator<=>(const RecallQuestion&) const = default;
};

struct RecallAnswer {
  std::string setting;   ///< "rank 16"
  double recall = 0;     ///< mean over heads
  double deviation = 0;  ///< standard deviation over heads
};

/// Numbers of the study's heads, of which settings are shares.
struct RecallHeads {
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t tokens = 0;
};
RecallHeads recall_heads();

/// One answer for each question, on the heads of the study with this seed. Empty where the study's
/// heads do not support it: another method, a share that is no whole number of components, or no
/// rows.
std::vector<std::optional<RecallAnswer>> recall_at_budget(
    const std::vector<RecallQuestion>& questions, std::uint64_t seed);

}  // namespace tiersim::numerics
