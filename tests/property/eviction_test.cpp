// Every eviction policy against a slow one that is written from the words of its paper, on random
// sequences of names; and Belady's optimum against all choices that a cache has.
#include <algorithm>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "tests/support/test_length.hpp"
#include "workloads/eviction/block_cache.hpp"
#include "workloads/trace/lru_curve.hpp"

namespace tiersim::eviction_property_test {
namespace {

using Name = std::uint64_t;
using Names = std::vector<Name>;

// A cache of names, each of which is one prompt.
class Reference {
 public:
  virtual ~Reference() = default;
  virtual bool visit(Name name) = 0;
};

// The least of the entries by a key of their own leaves.
class ByKey : public Reference {
 public:
  using Key = std::pair<double, std::int64_t>;
  explicit ByKey(std::size_t capacity) : capacity_(capacity) {}
  bool visit(Name name) override {
    ++now_;
    const bool hit = keys_.contains(name);
    if (!hit && keys_.size() == capacity_) {
      const auto least =
          std::min_element(keys_.begin(), keys_.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      left(least->second);
      uses_.erase(least->first);
      keys_.erase(least);
    }
    ++uses_[name];
    if (!hit || moves_on_use()) keys_[name] = key(name);
    return hit;
  }

 protected:
  virtual Key key(Name name) const = 0;
  virtual bool moves_on_use() const { return true; }
  virtual void left(const Key& /*key*/) {}
  std::int64_t now() const { return now_; }
  double uses(Name name) const { return static_cast<double>(uses_.at(name)); }

 private:
  std::size_t capacity_;
  std::int64_t now_ = 0;
  std::map<Name, Key> keys_;
  std::map<Name, std::int64_t> uses_;
};

struct Lru : ByKey {
  using ByKey::ByKey;
  Key key(Name /*name*/) const override { return {0, now()}; }
};
struct Fifo : Lru {
  using Lru::Lru;
  bool moves_on_use() const override { return false; }
};
struct Lfu : ByKey {
  using ByKey::ByKey;
  Key key(Name name) const override { return {uses(name), now()}; }
};
double cost_of(Name name) {
  return static_cast<double>(1 + name % 5);
}
struct Gdsf : ByKey {
  using ByKey::ByKey;
  Key key(Name name) const override { return {age + uses(name) * cost_of(name), now()}; }
  void left(const Key& key) override { age = key.first; }
  double age = 0;
};

class Sieve : public Reference {
 public:
  explicit Sieve(std::size_t capacity) : capacity_(capacity) {}
  bool visit(Name name) override {
    const auto found = std::ranges::find(queue_, name, &Entry::name);
    if (found != queue_.end()) return found->visited = true;
    if (queue_.size() == capacity_) {
      if (hand_ == queue_.end()) hand_ = std::prev(queue_.end());
      while (hand_->visited) {
        hand_->visited = false;
        hand_ = hand_ == queue_.begin() ? std::prev(queue_.end()) : std::prev(hand_);
      }
      const auto next = hand_ == queue_.begin() ? queue_.end() : std::prev(hand_);
      queue_.erase(hand_);
      hand_ = next;
    }
    queue_.push_front({name, false});
    return false;
  }

 private:
  struct Entry {
    Name name = 0;
    bool visited = false;
  };
  std::size_t capacity_;
  std::list<Entry> queue_;  // head first
  std::list<Entry>::iterator hand_ = queue_.end();
};

// Algorithm 1 of the paper, function by function.
class S3Fifo : public Reference {
 public:
  explicit S3Fifo(std::size_t capacity)
      : capacity_(capacity), small_(std::max<std::size_t>(1, capacity / 10)) {}
  bool visit(Name name) override {
    for (Queue* queue : {&s_, &m_}) {
      const auto found = std::ranges::find(*queue, name, &Entry::name);
      if (found == queue->end()) continue;
      found->freq = std::min(found->freq + 1, 3);
      return true;
    }
    while (s_.size() + m_.size() >= capacity_) {
      if (s_.size() >= small_ || m_.empty())
        evict_s();
      else
        evict_m();
    }
    const auto ghost = std::ranges::find(g_, name);
    const bool was_ghost = ghost != g_.end();
    if (was_ghost) g_.erase(ghost);
    (was_ghost ? m_ : s_).push_front({name, 0});
    return false;
  }

 private:
  struct Entry {
    Name name = 0;
    int freq = 0;
  };
  using Queue = std::list<Entry>;

  void evict_s() {
    bool evicted = false;
    while (!evicted && !s_.empty()) {
      const Entry tail = s_.back();
      s_.pop_back();
      if (tail.freq > 1) {
        m_.push_front({tail.name, 0});
        if (m_.size() > capacity_ - small_) evict_m();
      } else {
        g_.push_front(tail.name);
        if (g_.size() > capacity_ - small_) g_.pop_back();
        evicted = true;
      }
    }
  }
  void evict_m() {
    bool evicted = false;
    while (!evicted && !m_.empty()) {
      const Entry tail = m_.back();
      m_.pop_back();
      if (tail.freq > 0)
        m_.push_front({tail.name, tail.freq - 1});
      else
        evicted = true;
    }
  }

  std::size_t capacity_;
  std::size_t small_;
  Queue s_;
  Queue m_;
  std::list<Name> g_;
};

// Cases I to IV of the paper's figure 4.
class Arc : public Reference {
 public:
  explicit Arc(std::size_t capacity) : c_(static_cast<double>(capacity)) {}
  bool visit(Name x) override {
    if (has(t1_, x) || has(t2_, x)) {
      t1_.remove(x);
      t2_.remove(x);
      t2_.push_front(x);
      return true;
    }
    if (has(b1_, x)) {
      p_ = std::min(c_, p_ + std::max(1.0, size(b2_) / size(b1_)));
      if (size(t1_) + size(t2_) >= c_) replace(x);
      b1_.remove(x);
      t2_.push_front(x);
      return false;
    }
    if (has(b2_, x)) {
      p_ = std::max(0.0, p_ - std::max(1.0, size(b1_) / size(b2_)));
      if (size(t1_) + size(t2_) >= c_) replace(x);
      b2_.remove(x);
      t2_.push_front(x);
      return false;
    }
    const double l1 = size(t1_) + size(b1_);
    const double all = l1 + size(t2_) + size(b2_);
    if (l1 == c_) {
      if (size(t1_) < c_) {
        b1_.pop_back();
        replace(x);
      } else {
        t1_.pop_back();
      }
    } else if (l1 < c_ && all >= c_) {
      if (all == 2 * c_) b2_.pop_back();
      replace(x);
    }
    t1_.push_front(x);
    return false;
  }

 private:
  using List = std::list<Name>;  // most recent first
  static bool has(const List& list, Name x) { return std::ranges::find(list, x) != list.end(); }
  static double size(const List& list) { return static_cast<double>(list.size()); }
  void replace(Name x) {
    if (!t1_.empty() && (size(t1_) > p_ || (has(b2_, x) && size(t1_) == p_))) {
      b1_.push_front(t1_.back());
      t1_.pop_back();
    } else {
      b2_.push_front(t2_.back());
      t2_.pop_back();
    }
  }

  double c_;
  double p_ = 0;
  List t1_, t2_, b1_, b2_;
};

using MakeReference = std::function<std::unique_ptr<Reference>(std::size_t)>;
template <class T>
MakeReference make() {
  return [](std::size_t capacity) { return std::make_unique<T>(capacity); };
}

// Names from a few popular ones and many others, with scans between them.
Names random_names(Rng& rng) {
  const std::uint64_t all = 2 + rng.below(30);
  const std::uint64_t popular = 1 + rng.below(all);
  Names out(1 + rng.below(150));
  for (Name& name : out) name = rng.below(rng.below(2) == 0 ? popular : all);
  return out;
}

TEST(EvictionAgainstPapers, SameHitsOnRandomNames) {
  const std::map<std::string, MakeReference> references{
      {"arc", make<Arc>()},    {"fifo", make<Fifo>()}, {"gdsf", make<Gdsf>()},
      {"lfu", make<Lfu>()},    {"lru", make<Lru>()},   {"s3_fifo", make<S3Fifo>()},
      {"sieve", make<Sieve>()}};
  std::map<std::string, std::int64_t> hits;
  for (int draw = 0; draw < testing::draws_of(10'000, 100'000); ++draw) {
    Rng rng(static_cast<std::uint64_t>(draw), "eviction");
    const Names names = random_names(rng);
    const std::size_t capacity = 1 + rng.below(24);
    for (const std::string_view policy : kEvictionNames) {
      const auto reference = references.at(std::string(policy))(capacity);
      BlockCache cache(policy, static_cast<std::int64_t>(capacity));
      for (std::size_t i = 0; i < names.size(); ++i) {
        const Visit visit{.key = names[i], .cost = cost_of(names[i])};
        const bool hit = cache.look_up({&visit, 1}) == 1;
        ASSERT_EQ(hit, reference->visit(names[i]))
            << policy << ", draw " << draw << ", visit " << i << ", capacity " << capacity;
        hits[std::string(policy)] += hit ? 1 : 0;
      }
    }
  }
  // They are seven policies, not one.
  std::set<std::int64_t> different;
  for (const auto& [policy, count] : hits) different.insert(count);
  EXPECT_EQ(different.size(), hits.size());
}

// Prompts that follow a tree of blocks, two ways on from each.
std::vector<Names> random_prompts(Rng& rng, std::size_t most, std::uint64_t depth) {
  std::vector<Names> out(1 + rng.below(most));
  for (Names& prompt : out) {
    Name at = 0;
    for (std::uint64_t length = 1 + rng.below(depth); length > 0; --length)
      prompt.push_back(at = 2 * at + 1 + rng.below(2));
  }
  return out;
}

// The visits of each prompt, with the number of the next prompt that has the block.
std::vector<std::vector<Visit>> with_future(const std::vector<Names>& prompts) {
  std::map<Name, std::int64_t> next;
  std::vector<std::vector<Visit>> out(prompts.size());
  for (std::size_t i = prompts.size(); i-- > 0;) {
    for (const Name name : prompts[i]) {
      const auto found = next.find(name);
      out[i].push_back({.key = name, .next = found == next.end() ? Visit::kNever : found->second});
      next[name] = static_cast<std::int64_t>(i);
    }
  }
  return out;
}

std::int64_t hits_of(std::string_view policy, std::int64_t capacity,
                     const std::vector<Names>& prompts) {
  BlockCache cache(policy, capacity);
  std::int64_t hits = 0;
  for (const auto& prompt : with_future(prompts)) hits += cache.look_up(prompt);
  return hits;
}

// The most hits of any cache that keeps what it likes of its content and of the prompt.
class AllChoices {
 public:
  AllChoices(const std::vector<Names>& prompts, std::size_t capacity)
      : prompts_(prompts), capacity_(capacity) {}
  std::int64_t most(std::size_t from = 0, const std::set<Name>& content = {}) {
    if (from == prompts_.size()) return 0;
    const auto known = known_.find({from, content});
    if (known != known_.end()) return known->second;
    std::int64_t hits = 0;
    for (const Name name : prompts_[from]) {
      if (!content.contains(name)) break;
      ++hits;
    }
    std::set<Name> all = content;
    all.insert(prompts_[from].begin(), prompts_[from].end());
    const Names names(all.begin(), all.end());
    std::int64_t rest = 0;
    for (std::uint32_t choice = 0; choice < 1U << names.size(); ++choice) {
      std::set<Name> kept;
      for (std::size_t i = 0; i < names.size(); ++i)
        if ((choice >> i & 1U) != 0) kept.insert(names[i]);
      if (kept.size() == std::min(capacity_, names.size()))
        rest = std::max(rest, most(from + 1, kept));
    }
    return known_[{from, content}] = hits + rest;
  }

 private:
  const std::vector<Names>& prompts_;
  std::size_t capacity_;
  std::map<std::pair<std::size_t, std::set<Name>>, std::int64_t> known_;
};

TEST(Belady, IsTheBestOfAllChoices) {
  for (int draw = 0; draw < testing::draws_of(1'000, 20'000); ++draw) {
    Rng rng(static_cast<std::uint64_t>(draw), "belady");
    const std::vector<Names> prompts = random_prompts(rng, 9, 3);
    const std::size_t capacity = 1 + rng.below(4);
    EXPECT_EQ(hits_of("belady", static_cast<std::int64_t>(capacity), prompts),
              AllChoices(prompts, capacity).most())
        << "draw " << draw << ", capacity " << capacity;
  }
}

TEST(Belady, IsABoundOfEveryPolicy) {
  for (int draw = 0; draw < testing::draws_of(300, 3'000); ++draw) {
    Rng rng(static_cast<std::uint64_t>(draw), "bound");
    const std::vector<Names> prompts = random_prompts(rng, 200, 7);
    const auto capacity = static_cast<std::int64_t>(1 + rng.below(60));
    const std::int64_t bound = hits_of("belady", capacity, prompts);
    for (const std::string_view policy : kEvictionNames)
      EXPECT_LE(hits_of(policy, capacity, prompts), bound) << policy << ", draw " << draw;
  }
}

// The curve of stack distances has the hits of a simulated LRU cache of every size.
TEST(EvictionAgainstPapers, LruCachesOfEverySizeLieOnTheCurve) {
  for (int draw = 0; draw < testing::draws_of(100, 2'000); ++draw) {
    Rng rng(static_cast<std::uint64_t>(draw), "curve");
    const std::vector<Names> prompts = random_prompts(rng, 60, 6);
    LruCurve curve;
    for (const Names& prompt : prompts) curve.look_up(prompt);
    for (std::int64_t capacity = 1; capacity <= curve.distinct(); ++capacity)
      ASSERT_NEAR(curve.at(capacity).rate * static_cast<double>(curve.lookups()),
                  static_cast<double>(hits_of("lru", capacity, prompts)), 1e-6)
          << "draw " << draw << ", capacity " << capacity;
  }
}

// Under these policies a block is in the cache only with those before it.
TEST(EvictionProperty, NoBlockOutlivesThoseBeforeIt) {
  for (int draw = 0; draw < testing::draws_of(300, 3'000); ++draw) {
    Rng rng(static_cast<std::uint64_t>(draw), "chains");
    const std::vector<Names> prompts = random_prompts(rng, 100, 6);
    const auto capacity = static_cast<std::int64_t>(1 + rng.below(40));
    for (const char* policy : {"belady", "gdsf", "lfu", "lru"}) {
      BlockCache cache(policy, capacity);
      for (auto& prompt : with_future(prompts)) {
        for (Visit& visit : prompt) visit.cost = static_cast<double>(prompt.size());
        cache.look_up(prompt);
        ASSERT_LE(cache.size(), capacity);
        for (Name name = 3; name < 127; ++name) {
          const bool kept_without = cache.contains(name) && !cache.contains((name - 1) / 2);
          ASSERT_FALSE(kept_without) << policy << ", draw " << draw;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tiersim::eviction_property_test
