#pragma once
// The depth at which each token would leave alone: a stated distribution, or a file of depths. A
// depth is a pure function of (seed, sequence, token) and of what the tokens of an iteration have
// in common, so that no order of asking moves any.
#include <cstdint>
#include <vector>

#include "workloads/early_exit/early_exit_config.hpp"

namespace tiersim {

class ExitDepths {
 public:
  /// `config` has been read without mistakes. `layers`: of the decoder.
  ExitDepths(const EarlyExitConfig& config, std::int64_t layers, std::uint64_t seed);

  /// The layer, from 1 to `layers`, after which token `token` (from 0) of `of_tokens` of request
  /// `request` would leave, in iteration `iteration` of its replica.
  std::int64_t depth(std::int64_t request, std::int64_t token, std::int64_t of_tokens,
                     std::int64_t iteration) const;

  /// Mean depth over all tokens as configured, for reports.
  double mean_depth() const;

 private:
  EarlyExitConfig config_;
  std::int64_t layers_;
  std::uint64_t seed_;
};

}  // namespace tiersim
