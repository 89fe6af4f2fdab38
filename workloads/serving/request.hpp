#pragma once
// One request to a server of a language model, as its client sees it.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/base/units.hpp"

namespace tiersim {

/// Names of the blocks that a prompt starts with: two prompts that share the first n names share
/// the first n blocks of tokens, and so their keys and values. A name stands for the block and all
/// before it.
using PrefixBlocks = std::vector<std::uint64_t>;

struct Request {
  /// From 0 in the order in which the source gives them; that is the order of arrival but in a
  /// closed loop, where a user who thinks longer may send an older number later.
  std::int64_t id = 0;
  SimTime arrival{};
  std::int64_t input_tokens = 1;   ///< of the prompt; of the encoder's input where there is one
  std::int64_t output_tokens = 1;  ///< that it ends after, the first one included
  PrefixBlocks prefix = {};        ///< of WorkloadConfig::prefix_block tokens each; may be none
};

/// The requests of a run.
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  /// The next request whose arrival is known now, in the order of arrival; none where the rest
  /// waits for a completion, or where there is no more. It may be asked for early or late.
  virtual std::optional<Request> next() = 0;
  /// A request ended at `now`: the one that its client sends next, if any. Its arrival is `now` or
  /// later. Open sources have none.
  virtual std::optional<Request> after_completion(SimTime now) = 0;
};

}  // namespace tiersim
