#pragma once
// The drafts of a server's iterations, and how many of them each sequence accepts. Both are pure
// functions, so that a run gives the same tokens in any order of its events.
#include <algorithm>

#include "workloads/llm/speculation.hpp"
#include "workloads/serving/sequence.hpp"

namespace tiersim {

class Drafting {
 public:
  Drafting(const SpeculationConfig& config, std::uint64_t seed)
      : config_(config), law_(config.law()), seed_(seed), most_(config.most_tokens()) {}

  /// Drafts for each of this many decoding sequences of an iteration.
  std::int64_t tokens(std::int64_t sequences) const { return config_.tokens_at(sequences); }
  std::int64_t most_tokens() const { return most_; }
  /// Tokens that an iteration with so many drafts gives the sequence; its answer ends at its stated
  /// length.
  std::int64_t gained(const Sequence& s, std::int64_t drafts) const {
    const std::int64_t accepted = law_.accepted(seed_, s.request.id, s.generated, drafts);
    return std::min(1 + accepted, s.request.output_tokens - s.generated);
  }

 private:
  SpeculationConfig config_;
  AcceptanceLaw law_;
  std::uint64_t seed_;
  std::int64_t most_;
};

}  // namespace tiersim
