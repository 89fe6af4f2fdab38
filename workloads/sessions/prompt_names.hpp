#pragma once
// The names of a growing prompt's blocks. A prompt is a series of pieces, each with a number that
// says which text it is; two prompts share a block, and its name, where all their tokens up to the
// end of it are of the same pieces. A name is a hash of 64 bits of the pieces in the block and of
// the name before it, so that no table is needed: two of 10^8 different blocks have the same name
// with a probability of 3e-4.
#include <cstdint>

#include "workloads/serving/request.hpp"

namespace tiersim {

class PromptNames {
 public:
  /// `block`: tokens of a named block.
  explicit PromptNames(std::int64_t block);

  /// Adds `tokens` tokens of the text with this number, from its first one on.
  void append(std::uint64_t text, std::int64_t tokens);

  std::int64_t tokens() const { return tokens_; }
  /// Of all whole blocks so far.
  const PrefixBlocks& names() const { return names_; }

 private:
  std::int64_t block_;
  std::int64_t tokens_ = 0;
  std::uint64_t open_ = 0;  // hash of the pieces of the block that is not whole yet
  PrefixBlocks names_;
};

}  // namespace tiersim
