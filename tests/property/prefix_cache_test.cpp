// The prefix cache against a model without lists: every entry stores the time at which it reached
// its level, and the victim is found by a scan of all entries.
#include "workloads/serving/prefix_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sim/base/rng.hpp"

namespace tiersim::prefix_cache_test {
namespace {

using Span = std::span<const PrefixEntry>;

class NaiveCache {
 public:
  explicit NaiveCache(std::vector<std::int64_t> capacity) : capacity_(std::move(capacity)) {
    capacity_.insert(capacity_.begin(), 0);
  }

  std::vector<std::int64_t> find(Span prefix) const {
    std::vector<std::int64_t> levels;
    for (const PrefixEntry& entry : prefix) {
      if (!entries_.contains(entry.name)) break;
      levels.push_back(entries_.at(entry.name).level);
    }
    return levels;
  }
  std::int64_t use(Span prefix) {
    const std::int64_t before = at_level(0, true);
    for (const PrefixEntry& each : prefix) {
      made_ += entries_.contains(each.name) ? 0 : each.blocks;
      Entry& entry = entries_[each.name];
      entry.blocks = each.blocks;
      entry.level = 0;
      ++entry.pins;
    }
    return at_level(0, true) - before;
  }
  void release(Span prefix) {
    for (auto each = prefix.rbegin(); each != prefix.rend(); ++each) {
      --entries_[each->name].pins;
      entries_[each->name].since = ++clock_;
    }
  }
  PrefixMoves evict(std::int64_t blocks) {
    PrefixMoves moves{.written = std::vector<std::int64_t>(capacity_.size(), 0)};
    while (moves.freed < blocks) {
      const std::uint64_t name = oldest(0);
      moves.freed += entries_[name].blocks;
      down(name, moves);
    }
    return moves;
  }
  // Blocks.
  std::int64_t at_level(std::int64_t level, bool pinned_too) const {
    std::int64_t sum = 0;
    for (const auto& [name, entry] : entries_)
      if (entry.level == level && (pinned_too || entry.pins == 0)) sum += entry.blocks;
    return sum;
  }
  std::int64_t held() const {
    std::int64_t sum = 0;
    for (const auto& [name, entry] : entries_) sum += entry.blocks;
    return sum;
  }
  std::int64_t made() const { return made_; }

 private:
  struct Entry {
    std::int64_t blocks = 0;
    std::int64_t level = 0;
    std::int64_t pins = 0;
    std::int64_t since = 0;
  };

  std::uint64_t oldest(std::int64_t level) const {
    const std::pair<const std::uint64_t, Entry>* found = nullptr;
    for (const auto& each : entries_)
      if (each.second.level == level && each.second.pins == 0 &&
          (found == nullptr || each.second.since < found->second.since))
        found = &each;
    return found->first;
  }
  void down(std::uint64_t name, PrefixMoves& moves) {
    const std::int64_t blocks = entries_[name].blocks;
    auto level = static_cast<std::size_t>(entries_[name].level + 1);
    while (level < capacity_.size() && capacity_[level] < blocks) ++level;
    if (level == capacity_.size()) {
      entries_.erase(name);
      moves.gone += blocks;
      return;
    }
    const auto to = static_cast<std::int64_t>(level);
    while (at_level(to, true) + blocks > capacity_[level]) down(oldest(to), moves);
    entries_[name].level = to;
    entries_[name].since = ++clock_;
    moves.written[level] += blocks;
  }

  std::vector<std::int64_t> capacity_;
  std::map<std::uint64_t, Entry> entries_;
  std::int64_t clock_ = 0;
  std::int64_t made_ = 0;  // blocks
};

// A sequence that has pinned the first `pinned` blocks of its prompt.
struct Sequence {
  PrefixEntries prompt;
  std::size_t pinned = 0;
  bool loading = false;
};

class Play {
 public:
  explicit Play(std::uint64_t seed)
      : rng_(seed, "prefix cache"),
        levels_(some_levels(rng_)),
        cache_({levels_.begin(), levels_.end()}),
        naive_(levels_) {
    sizes_ = seed % 2 == 0 ? 1 : 3;
    // A random forest: block k follows one before it, or begins a prompt.
    for (std::uint64_t k = 0; k < kNodes; ++k) parent_.push_back(rng_.below(k + 1));
  }

  void step() {
    switch (rng_.below(4)) {
      case 0:
        begin();
        break;
      case 1:
        proceed();
        break;
      case 2:
        finish();
        break;
      default:
        evict();
        break;
    }
    check();
  }
  void end() {
    while (!running_.empty()) finish();
    evict_all();
    check();
  }

 private:
  static constexpr std::uint64_t kNodes = 40;

  static std::vector<std::int64_t> some_levels(Rng& rng) {
    std::vector<std::int64_t> levels(rng.below(4));
    for (std::int64_t& each : levels) each = static_cast<std::int64_t>(rng.below(9));
    return levels;
  }
  PrefixEntries some_prompt() {
    PrefixEntries prompt;
    std::uint64_t node = rng_.below(kNodes);
    for (;; node = parent_[node]) {
      // Distinct names, of one block or up to three.
      const auto blocks = static_cast<std::int64_t>(sizes_ == 1 ? 1 : 1 + node % sizes_);
      prompt.push_back({0x9E3779B97F4A7C15U * (node + 1), 0, blocks});
      if (parent_[node] == node) break;
    }
    std::reverse(prompt.begin(), prompt.end());
    return prompt;
  }

  void begin() {
    Sequence s{.prompt = some_prompt()};
    const Span prompt = s.prompt;
    s.pinned = cache_.find(prompt).size();
    s.loading = true;
    const Span found = prompt.first(s.pinned);
    const std::int64_t idle = cache_.idle(found);
    const std::int64_t evictable = cache_.evictable();
    const std::int64_t gained = cache_.load(found);
    EXPECT_EQ(cache_.evictable(), evictable - idle);
    EXPECT_EQ(gained, naive_.use(found));
    running_.push_back(s);
  }
  // A load arrives, or the next blocks are computed.
  void proceed() {
    if (running_.empty()) return;
    Sequence& s = running_[rng_.below(running_.size())];
    const Span prompt = s.prompt;
    if (s.loading) {
      cache_.arrived(prompt.first(s.pinned));
      EXPECT_EQ(cache_.loading(prompt.first(s.pinned)), 0);
      s.loading = false;
    } else {
      const auto next = prompt.subspan(s.pinned, rng_.below(prompt.size() - s.pinned + 1));
      EXPECT_EQ(cache_.use(next), naive_.use(next));
      s.pinned += next.size();
    }
  }
  void finish() {
    if (running_.empty()) return;
    const auto k = static_cast<std::ptrdiff_t>(rng_.below(running_.size()));
    const Sequence s = running_[static_cast<std::size_t>(k)];
    const Span pinned = Span(s.prompt).first(s.pinned);
    cache_.arrived(pinned);
    cache_.release(pinned);
    naive_.release(pinned);
    running_.erase(running_.begin() + k);
  }
  void evict() { evict_some(rng_.below(static_cast<std::uint64_t>(cache_.evictable()) + 1)); }
  void evict_all() { evict_some(static_cast<std::uint64_t>(cache_.evictable())); }
  void evict_some(std::uint64_t count) {
    const PrefixMoves moves = cache_.evict(static_cast<std::int64_t>(count));
    const PrefixMoves expected = naive_.evict(static_cast<std::int64_t>(count));
    EXPECT_EQ(moves.written, expected.written);
    EXPECT_EQ(moves.freed, expected.freed);
    EXPECT_EQ(moves.gone, expected.gone);
    gone_ += moves.gone;
  }

  void check() {
    EXPECT_EQ(cache_.evictable(), naive_.at_level(0, false));
    EXPECT_EQ(cache_.pooled(), naive_.at_level(0, true));
    std::int64_t entries = cache_.pooled();
    for (std::size_t k = 1; k <= levels_.size(); ++k) {
      const auto level = static_cast<std::int64_t>(k);
      EXPECT_EQ(cache_.held(level), naive_.at_level(level, true));
      EXPECT_LE(cache_.held(level), levels_[k - 1]);
      entries += cache_.held(level);
    }
    EXPECT_EQ(entries, naive_.held());
    EXPECT_EQ(entries, naive_.made() - gone_);
    // The cached blocks have no holes: no block is nearer than one that it builds on.
    const PrefixEntries prompt = some_prompt();
    const std::vector<std::int64_t> found = cache_.find(prompt);
    EXPECT_EQ(found, naive_.find(prompt));
    // A level that is too small for an entry is passed by, so that sizes may leave holes.
    if (sizes_ == 1) {
      EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
      for (std::size_t k = found.size(); k < prompt.size(); ++k)
        EXPECT_TRUE(cache_.find(Span(prompt).subspan(k, 1)).empty());
    }
    for (const Sequence& s : running_)
      for (const std::int64_t level : cache_.find(Span(s.prompt).first(s.pinned)))
        EXPECT_EQ(level, 0);
  }

  Rng rng_;
  std::uint64_t sizes_ = 1;  // of entries
  std::vector<std::int64_t> levels_;
  PrefixCache cache_;
  NaiveCache naive_;
  std::vector<std::uint64_t> parent_;
  std::vector<Sequence> running_;
  std::int64_t gone_ = 0;  // blocks
};

TEST(PrefixCacheProperty, DoesWhatAModelWithoutListsDoes) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Play play(seed);
    for (int k = 0; k < 200; ++k) play.step();
    play.end();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tiersim::prefix_cache_test
