#pragma once
// The hit rate of an LRU cache of prompt blocks over its capacity, from one pass over the prompts
// (stack_distance.hpp). A prompt looks its blocks up in the state that earlier prompts left. Then
// they become the newest, the first block on top, so that a block is never kept without those
// before it: every hit is a hit of a prefix.
//
// A large trace may be sampled (SHARDS: Waldspurger et al., Efficient MRC construction with SHARDS,
// FAST 2015): only blocks whose hash is below a threshold are followed, their distances stand for
// 1 / rate as many, and the lookups that a sample has more or fewer than expected count as hits of
// the smallest cache (SHARDS-adj). The error is that of eight parts of the sample, by other bits of
// the hash.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/trace/stack_distance.hpp"

namespace tiersim {

struct HitRate {
  double rate = 0;   ///< share of the lookups, from 0 to 1
  double error = 0;  ///< standard error of it by the sampling; 0 without
};

class LruCurve {
 public:
  /// `sampled` is the share of blocks that is followed, above 0; 1 follows all.
  explicit LruCurve(double sampled = 1);

  /// The names of the blocks of a prompt, first to last; a name stands for all blocks before it.
  void look_up(std::span<const std::uint64_t> names);

  std::int64_t lookups() const { return lookups_; }
  /// Distinct blocks that are followed: all of them where they are not sampled.
  std::int64_t followed() const { return stack_.rows(); }
  bool is_sampled() const { return sampled_ < 1; }
  /// Distinct blocks: what a cache must hold to lose none. An estimate where they are sampled.
  std::int64_t distinct() const;
  /// Of a cache that holds so many blocks.
  HitRate at(std::int64_t blocks) const;
  /// Of a cache without a limit.
  HitRate most() const { return at(distinct()); }

 private:
  static constexpr std::size_t kParts = 8;
  struct Part {
    std::vector<std::int64_t> found = {};  // by distance in followed blocks, from 1; [0] is unused
    std::int64_t lookups = 0;
  };
  double rate_of(std::int64_t found, std::int64_t looked_up, double expected) const;

  double sampled_;
  std::int64_t lookups_ = 0;
  StackDistances stack_;
  std::array<Part, kParts> parts_;
  std::vector<std::int64_t> batch_;
};

}  // namespace tiersim
