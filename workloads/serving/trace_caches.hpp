#pragma once
// What caches of several sizes under several eviction policies would find of the prompts of a
// trace, without time: each prompt looks up what earlier ones left, then all of its blocks are
// used. The future of a trace is known, so Belady's optimum can be one of the policies.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "workloads/eviction/block_cache.hpp"

namespace tiersim {

struct CachesOfTrace {
  std::vector<std::string> policies = {};     ///< names of eviction_library()
  std::vector<std::int64_t> capacities = {};  ///< blocks, each above 0
};

struct FoundInCaches {
  std::int64_t requests = 0;
  std::int64_t lookups = 0;  ///< blocks of all prompts
  /// [capacity][policy]: blocks that were found, from the first one of each prompt on.
  std::vector<std::vector<std::int64_t>> found = {};
};

/// Takes prompts in their order. Memory grows with the capacities, and with all lookups where a
/// policy needs the future.
class TraceCaches {
 public:
  explicit TraceCaches(const CachesOfTrace& caches);

  void look_up(std::span<const std::uint64_t> names);
  /// The same for in_arrival_order().
  void add(Int128 /*time*/, std::int64_t /*input*/, std::int64_t /*output*/,
           std::span<const std::uint64_t> names) {
    look_up(names);
  }
  FoundInCaches found() const;

 private:
  struct Cache {
    std::size_t capacity = 0;  // of what_
    std::size_t policy = 0;
    BlockCache cache;
  };
  template <class Each>
  void for_each(bool needs_future, Each each) const;

  CachesOfTrace what_;
  std::vector<Cache> caches_;  // those that need no future
  FoundInCaches out_;
  bool keeps_names_ = false;
  std::vector<std::uint64_t> names_ = {};  // of all prompts, if a policy needs the future
  std::vector<std::int64_t> ends_ = {};    // of each prompt in these
  std::vector<Visit> visits_ = {};         // scratch
};

}  // namespace tiersim
