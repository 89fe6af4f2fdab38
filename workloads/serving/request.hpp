#pragma once
// One request to a server of a language model, as its client sees it.
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "sim/base/units.hpp"

namespace tiersim {

/// Names of the blocks that a prompt starts with. Two prompts that share the first n names share
/// the first n blocks of tokens, and so their keys and values. A name stands for the block and all
/// before it.
using PrefixBlocks = std::vector<std::uint64_t>;

struct Request {
  /// Number from 0 in the order of the source. That is the order of arrival, except in a closed
  /// loop, where a user who thinks longer may send an older number later.
  std::int64_t id = 0;
  SimTime arrival{};
  /// Tokens of the prompt, or of the encoder's input in models with an encoder.
  std::int64_t input_tokens = 1;
  std::int64_t output_tokens = 1;  ///< length of the answer, the first token included
  PrefixBlocks prefix = {};        ///< WorkloadConfig::prefix_block tokens each; may be empty
};

/// Thrown by a source that cannot give its next request: its file changed during the run.
struct SourceFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The requests of a run.
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  /// The next request whose arrival is known now, in order of arrival. Empty where the others wait
  /// for a completion, or where there are none. It may be called ahead of or behind the arrival.
  virtual std::optional<Request> next() = 0;
  /// Called when a request has ended at `now`. Returns the request that its client sends next, if
  /// any, with an arrival of `now` or later; empty for open sources.
  virtual std::optional<Request> after_completion(SimTime now) = 0;
};

}  // namespace tiersim
