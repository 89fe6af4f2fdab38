// The length of a hit against a definition by positions: the most leading named blocks of a prompt
// for which each layer has all that the next position attends to.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "sim/base/rng.hpp"
#include "workloads/serving/scheduler.hpp"

namespace tiersim::prefix_hits_test {
namespace {

constexpr std::int64_t kNames = 12;  // of a prompt

struct Layers {
  std::vector<BlockGroup> groups;
  std::int64_t block = 1;
  std::int64_t positions = 1;  // of a named block
};

std::int64_t between(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low + 1)));
}

Layers some_layers(Rng& rng) {
  Layers out;
  out.block = between(rng, 1, 4);
  out.positions = out.block * between(rng, 1, 4);
  if (rng.uniform() < 0.7) out.groups.push_back({.blocks = between(rng, 1, 2)});
  for (std::int64_t k = between(rng, 0, 2); k > 0; --k)
    out.groups.push_back({.blocks = between(rng, 1, 2), .most = between(rng, 1, 9)});
  // Chunks alone would need nothing at their ends, whatever was computed.
  if (!out.groups.empty() && rng.uniform() < 0.5) {
    const std::int64_t stretches = between(rng, 1, 9);
    out.groups.push_back({.most = stretches, .chunk = stretches * out.block});
  }
  if (rng.uniform() < 0.4)
    out.groups.push_back({.blocks = between(rng, 1, 3), .most = 1, .is_state = true});
  if (out.groups.empty()) out.groups.push_back({});
  return out;
}

// Prompts share their beginnings with others of the same document.
PrefixBlocks some_prompt(Rng& rng, std::int64_t names) {
  PrefixBlocks out;
  const std::uint64_t document = rng.below(3);
  const std::int64_t alike = between(rng, 0, names);
  const std::uint64_t own = rng.below(1'000'000);
  for (std::int64_t k = 0; k < names; ++k)
    out.push_back(k < alike ? 100 * (document + 1) + static_cast<std::uint64_t>(k)
                            : 1'000'000 * (own + 1) + static_cast<std::uint64_t>(k));
  return out;
}

// The positions that the token after `end` ones attends to, by the definition of the layers; in
// whole stretches, since a window of m stretches covers those of the last m.
std::int64_t attends_from(const Layers& layers, const BlockGroup& group, std::int64_t end) {
  if (group.most == 0) return 0;
  if (group.chunk > 0) return end / group.chunk * group.chunk;
  return std::max<std::int64_t>(0, end - group.most * layers.block);
}

// Every number of named blocks is tried, from all of them down.
std::int64_t brute_force(const Layers& layers, const KvPool& pool, const PrefixBlocks& prompt) {
  const PrefixParts& parts = pool.parts();
  const std::int64_t stretches = layers.positions / layers.block;
  const auto name = [&](std::int64_t position) {
    return prompt[static_cast<std::size_t>(position / layers.positions)];
  };
  const auto has_all = [&](std::int64_t names) {
    const std::int64_t end = names * layers.positions;
    std::size_t window = 0;
    for (const BlockGroup& group : layers.groups) {
      if (group.is_state) {
        if (!pool.level_of(parts.state(name(end - 1)))) return false;
        continue;
      }
      for (std::int64_t p = attends_from(layers, group, end); p < end; ++p) {
        const PrefixEntry entry = group.most == 0
                                      ? parts.whole(name(p))
                                      : parts.entry({.window = window,
                                                     .stretch = p / layers.positions * stretches +
                                                                p % layers.positions / layers.block,
                                                     .blocks = group.blocks,
                                                     .name = name(p)});
        if (!pool.level_of(entry)) return false;
      }
      if (group.most > 0) ++window;
    }
    return true;
  };
  std::int64_t names = static_cast<std::int64_t>(prompt.size());
  while (names > 0 && !has_all(names)) --names;
  return names;
}

// All parts that these prompts may have, each once.
PrefixEntries parts_of(const Layers& layers, const KvPool& pool,
                       const std::vector<PrefixBlocks>& prompts) {
  const PrefixParts& parts = pool.parts();
  const std::int64_t stretches = layers.positions / layers.block;
  PrefixEntries out;
  std::set<std::uint64_t> seen;
  const auto add = [&](const PrefixEntry& entry) { out.push_back(entry); };
  for (const PrefixBlocks& prompt : prompts)
    for (std::size_t k = 0; k < prompt.size(); ++k) {
      if (!seen.insert(prompt[k]).second) continue;
      if (parts.whole_blocks() > 0) add(parts.whole(prompt[k]));
      if (parts.state_blocks() > 0) add(parts.state(prompt[k]));
      std::size_t window = 0;
      for (const BlockGroup& group : layers.groups) {
        if (group.most == 0 || group.is_state) continue;
        for (std::int64_t of = 0; of < stretches; ++of)
          add(parts.entry({.window = window,
                           .stretch = static_cast<std::int64_t>(k) * stretches + of,
                           .blocks = group.blocks,
                           .name = prompt[k]}));
        ++window;
      }
    }
  return out;
}

// Every block of every level is of one of these parts, and an exclusive level has none that the
// level above it has.
void expect_conserved(const PrefixEntries& parts, const KvPool& pool, const BlockLimits& limits) {
  const std::int64_t levels = std::ssize(limits.prefix_levels);
  for (std::int64_t level = 0; level <= levels; ++level) {
    std::int64_t held = 0;
    for (const PrefixEntry& part : parts) {
      if (!pool.holds(part, level)) continue;
      held += part.blocks;
      if (level < 2 || !limits.prefix_levels[static_cast<std::size_t>(level) - 1].exclusive)
        continue;
      EXPECT_FALSE(pool.holds(part, level - 1)) << part.name << " in " << level;
    }
    EXPECT_EQ(level == 0 ? pool.occupied() : pool.below(level), held) << level;
    if (level > 0) {
      EXPECT_LE(held, limits.prefix_levels[static_cast<std::size_t>(level) - 1].blocks);
    }
  }
}

class Served {
 public:
  Served(const Layers& layers, std::int64_t blocks, std::int64_t budget, BlockLimits limits = {})
      : layers_(layers) {
    config_.scheduler = {
        .policy = SchedulerPolicy::chunked, .max_sequences = 3, .max_batched_tokens = budget};
    limits.blocks = blocks;
    limits.block = layers.block;
    limits.groups = layers.groups;
    limits.prefix_block = layers.positions;
    scheduler_ = std::make_unique<Scheduler>(config_, limits);
  }

  const KvPool& pool() const { return scheduler_->pool(); }
  std::int64_t hit(const PrefixBlocks& prompt) const {
    return scheduler_->cached_prefix({.prefix = prompt}) / layers_.positions;
  }
  Sequence& submit(PrefixBlocks prompt, std::int64_t tokens, SessionPlace place = {}) {
    Sequence& s = *sequences_.emplace_back(std::make_unique<Sequence>());
    const std::int64_t positions = std::ssize(prompt) * layers_.positions;
    s.request = {.id = static_cast<std::int64_t>(sequences_.size()) - 1,
                 .input_tokens = positions + 1,
                 .output_tokens = tokens,
                 .prefix = std::move(prompt),
                 .session = place};
    scheduler_->submit(s);
    return s;
  }
  void advance(SimTime now) { scheduler_->advance(now); }
  void pass_over(std::vector<char> levels) { scheduler_->pass_over(std::move(levels)); }
  void end_pauses() { scheduler_->end_pauses(); }
  // Loads what lower levels have of the prompt, at once.
  bool prefetch(const PrefixBlocks& prompt) {
    const auto loads = scheduler_->prefetch(
        {.input_tokens = std::ssize(prompt) * layers_.positions + 1, .prefix = prompt});
    if (loads.entries.empty()) return false;
    scheduler_->prefetched(loads);
    return true;
  }
  // One iteration; copies take no time.
  bool iterate() {
    const Iteration now = scheduler_->plan();
    for (const SequenceMove& move : now.within) scheduler_->arrived(move);
    scheduler_->finish(now);
    for (const SequenceMove& move : now.beside) scheduler_->arrived(move);
    for (std::int64_t level = 1; level <= std::ssize(scheduler_->limits().prefix_levels); ++level)
      if (const auto store = scheduler_->next_store(level)) scheduler_->stored(*store);
    return now.works() || !now.before.empty() || !now.beside.empty();
  }

 private:
  Layers layers_;
  ServerConfig config_;
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<std::unique_ptr<Sequence>> sequences_;
};

Eviction some_eviction(Rng& rng) {
  return static_cast<Eviction>(rng.below(kEvictionNames.size()));
}

std::optional<Duration> some_lifetime(Rng& rng) {
  if (rng.uniform() < 0.5) return std::nullopt;
  return Duration(between(rng, 1, 60));
}

// Draws lifetimes, pauses of sessions and ways to load.
void draw_retention(Rng& rng, std::int64_t blocks, BlockLimits& limits) {
  limits.prefix_ttl = some_lifetime(rng);
  for (PrefixLevel& level : limits.prefix_levels) level.ttl = some_lifetime(rng);
  limits.layerwise_load = rng.uniform() < 0.5;
  if (limits.write_policy != WritePolicy::write_back)
    for (std::size_t l = 0; l < limits.prefix_levels.size(); ++l) {
      limits.prefix_levels[l].exclusive = l > 0 && rng.uniform() < 0.5;
      if (rng.uniform() < 0.3) limits.prefix_levels[l].queue = between(rng, 0, 20);
    }
  if (rng.uniform() < 0.4) return;
  limits.tool_calls = static_cast<PausedBlocks>(rng.below(kPausedBlocksNames.size()));
  limits.pause_limits = {.time = Duration(between(rng, 1, 60)), .blocks = between(rng, 0, blocks)};
}

// Pools that are too small for everything, and tiers below them, at any moment of the run.
TEST(PrefixHits, AreTheLongestOfWhichEveryLayerHasWhatItNeeds) {
  std::int64_t hits = 0;
  std::int64_t prefetches = 0;
  std::int64_t cut = 0;  // shorter than what layers have that keep every position
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Rng rng(seed, "prefix hits");
    const Layers layers = some_layers(rng);
    const PrefixParts parts(layers.groups, layers.block, layers.positions);
    BlockLimits limits;
    for (std::int64_t k = between(rng, 0, 2); k > 0; --k)
      limits.prefix_levels.emplace_back(between(rng, 0, 60), some_eviction(rng));
    limits.prefix_eviction = some_eviction(rng);
    limits.write_policy = static_cast<WritePolicy>(rng.below(kWritePolicyNames.size()));
    if (rng.uniform() < 0.5) limits.states = KeptStates::all;
    const std::int64_t most = parts.most_blocks(kNames * layers.positions + 12);
    const std::int64_t blocks = most + between(rng, 0, 2 * most);
    if (rng.uniform() < 0.7) draw_retention(rng, blocks, limits);
    Served server(layers, blocks, between(rng, 3, 40), limits);
    SimTime now{};
    std::vector<PrefixBlocks> prompts;
    for (int k = 0; k < 30; ++k) {
      prompts.push_back(some_prompt(rng, between(rng, 1, kNames)));
      const SessionPause pause = rng.uniform() < 0.5 ? SessionPause::tool : SessionPause::none;
      server.submit(prompts.back(), between(rng, 1, 8),
                    {.session = between(rng, 0, 3), .pause = pause});
      server.advance(now += Duration(between(rng, 0, 10)));
      std::vector<char> passed(limits.prefix_levels.size() + 1, 0);
      for (std::size_t l = 1; l < passed.size(); ++l) passed[l] = rng.uniform() < 0.1 ? 1 : 0;
      server.pass_over(passed);
      for (std::int64_t n = between(rng, 0, 6); n > 0; --n) server.iterate();
      const PrefixBlocks prompt = some_prompt(rng, kNames);
      const KvPool::Found found = server.pool().find(prompt);
      ASSERT_EQ(found.entries, brute_force(layers, server.pool(), prompt));
      ASSERT_LE(found.entries, found.matched);
      if (rng.uniform() < 0.3 && server.prefetch(prompt)) {
        ++prefetches;
        ASSERT_EQ(server.pool().find(prompt).entries, brute_force(layers, server.pool(), prompt));
      }
      hits += found.entries > 0 ? 1 : 0;
      cut += found.entries < found.matched && parts.whole_blocks() > 0 ? 1 : 0;
    }
    while (server.iterate()) {
    }
    server.end_pauses();
    // No sequence has a block now, so what is occupied are the parts.
    EXPECT_EQ(server.pool().used(), 0);
    expect_conserved(parts_of(layers, server.pool(), prompts), server.pool(), limits);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(hits, 1000);
  EXPECT_GT(prefetches, 100);
  EXPECT_GT(cut, 300);
}

// With room for everything, and times of last use instead of lists: the longest of the lifetimes of
// the pool and of the tiers says what a prompt finds, since each level gets what it lacks at a use.
TEST(PrefixHits, FindWhatWasUsedWithinTheLongestLifetime) {
  const Layers layers{.groups = {{}}, .block = 2, .positions = 4};
  std::int64_t ended = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Rng rng(seed, "lifetimes");
    BlockLimits limits;
    limits.prefix_ttl = Duration(between(rng, 1, 100));
    Duration longest = *limits.prefix_ttl;
    for (std::int64_t k = between(rng, 0, 2); k > 0; --k) {
      limits.prefix_levels.emplace_back(1'000'000, some_eviction(rng));
      limits.prefix_levels.back().ttl = Duration(between(rng, 1, 100));
      longest = std::max(longest, *limits.prefix_levels.back().ttl);
    }
    limits.prefix_eviction = some_eviction(rng);
    limits.layerwise_load = rng.uniform() < 0.5;
    Served server(layers, 1'000'000, between(rng, 3, 60), limits);
    std::map<std::uint64_t, SimTime> last;
    SimTime now{};
    for (int k = 0; k < 60; ++k) {
      server.advance(now += Duration(between(rng, 0, 20)));
      const PrefixBlocks prompt = some_prompt(rng, between(rng, 1, kNames));
      std::int64_t expected = 0;
      for (const std::uint64_t name : prompt) {
        const auto used = last.find(name);
        if (used == last.end()) break;
        if (now - used->second >= longest) {
          ++ended;
          break;
        }
        ++expected;
      }
      ASSERT_EQ(server.hit(prompt), expected);
      const Sequence& s = server.submit(prompt, 2);
      while (server.iterate()) {
      }
      ASSERT_EQ(s.cached_tokens, expected * layers.positions);
      for (const std::uint64_t name : prompt) last[name] = now;
    }
  }
  EXPECT_GT(ended, 500);
}

// Where nothing is evicted, sets of what was ever computed say what a prompt finds: named blocks,
// and of states the last one of each piece and the one where a prompt left what was cached.
TEST(PrefixHits, FindEverythingWhereThereIsRoom) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Rng rng(seed, "prefix hits in a large pool");
    const Layers layers = some_layers(rng);
    const std::int64_t budget = between(rng, 3, 60);
    BlockLimits limits;
    if (rng.uniform() < 0.3) limits.states = KeptStates::all;
    Served server(layers, 1'000'000, budget, limits);
    const bool has_states = server.pool().parts().state_blocks() > 0;
    const bool has_whole = server.pool().parts().whole_blocks() > 0;
    std::set<std::uint64_t> computed;
    std::set<std::uint64_t> states;
    for (int k = 0; k < 30; ++k) {
      const PrefixBlocks prompt = some_prompt(rng, between(rng, 1, kNames));
      const auto names = static_cast<std::int64_t>(prompt.size());
      std::int64_t known = 0;
      while (known < names && computed.contains(prompt[static_cast<std::size_t>(known)])) ++known;
      std::int64_t expected = known;
      while (has_states && expected > 0 &&
             !states.contains(prompt[static_cast<std::size_t>(expected) - 1]))
        --expected;
      ASSERT_EQ(server.hit(prompt), expected);
      const Sequence& s = server.submit(prompt, 2);
      while (server.iterate()) {
      }
      ASSERT_EQ(s.cached_tokens, expected * layers.positions);
      // Its pieces.
      const std::int64_t length = names * layers.positions + 1;
      std::int64_t before = expected * layers.positions;
      while (before < length) {
        const std::int64_t after = std::min(length, before + budget);
        const std::int64_t last = std::min(names, after / layers.positions);
        for (std::int64_t n = before / layers.positions + 1; n <= last; ++n)
          if (n == last || (n == known && has_whole) || limits.states == KeptStates::all)
            states.insert(prompt[static_cast<std::size_t>(n) - 1]);
        before = after;
      }
      computed.insert(prompt.begin(), prompt.end());
    }
  }
}

}  // namespace
}  // namespace tiersim::prefix_hits_test
