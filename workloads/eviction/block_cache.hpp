#pragma once
// A cache of named blocks of prompts under an eviction policy: what it holds, and what each prompt
// finds there. With a lifetime, what was not used for so long leaves as soon as the time comes.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "workloads/eviction/block_index.hpp"
#include "workloads/eviction/eviction_policy.hpp"
#include "workloads/eviction/last_uses.hpp"

namespace tiersim {

class BlockCache {
 public:
  /// `capacity` in blocks, above 0; `policy` is a name of eviction_library().
  BlockCache(std::string_view policy, std::int64_t capacity, std::optional<Duration> lifetime = {});

  /// The time is `now`, which never falls. Entries whose lifetime has ended leave, and are
  /// appended.
  void advance(SimTime now, std::vector<std::uint64_t>* left = nullptr);

  /// A prompt comes with these blocks, first to last, each name once. Returns how many blocks from
  /// its first on were here. Then all of them are used: those that are not here come in, the last
  /// one first, where the policy finds room for them.
  std::int64_t look_up(std::span<const Visit> prompt);

  bool contains(std::uint64_t key) const { return index_.find(key) != kNowhere; }
  /// An entry of the cache is used again.
  void touch(const Visit& visit) {
    const Place place = index_.find(visit.key);
    policy_->hit(place, visit);
    renew(place);
  }
  /// A use of an entry of the cache ends. Where the order is by recent use, it is the newest.
  void settle(const Visit& visit) {
    const Place place = index_.find(visit.key);
    policy_->hold(place);
    policy_->release(place, visit);
    renew(place);
  }
  /// An entry of the cache leaves it, for another reason than room.
  void drop(std::uint64_t key);
  /// One that is not here comes in, where there is room for it. Those that leave are appended.
  void add(const Visit& visit, std::vector<std::uint64_t>* left = nullptr);

  /// Room of the entries, in blocks.
  std::int64_t size() const { return size_; }
  std::int64_t capacity() const { return capacity_; }

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::int64_t blocks = 0;
  };
  bool make_room(const Visit& visit, std::vector<std::uint64_t>* left);
  void forget(Place place);
  void renew(Place place) {
    if (last_uses_) last_uses_->renew(place, now_);
  }

  std::int64_t capacity_;
  std::int64_t size_ = 0;
  std::unique_ptr<EvictionPolicy> policy_;
  std::optional<LastUses> last_uses_;  // none: entries live until their room is needed
  SimTime now_{};
  BlockIndex index_;
  std::vector<Entry> entries_;  // by place
  std::vector<Place> spare_;
  std::vector<Place> victims_;  // scratch
  std::vector<Place> found_;    // scratch
};

}  // namespace tiersim
