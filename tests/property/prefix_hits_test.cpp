// The length of a hit against a definition by positions: the most leading named blocks of a prompt
// for which each layer has all that the next position attends to.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
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

// Blocks of all parts of these prompts by the nearest level that has them.
std::map<std::int64_t, std::int64_t> held_by_level(const Layers& layers, const KvPool& pool,
                                                   const std::vector<PrefixBlocks>& prompts) {
  const PrefixParts& parts = pool.parts();
  const std::int64_t stretches = layers.positions / layers.block;
  std::map<std::int64_t, std::int64_t> out;
  std::set<std::uint64_t> seen;
  const auto add = [&](const PrefixEntry& entry) {
    if (const auto level = pool.level_of(entry)) out[*level] += entry.blocks;
  };
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
  Sequence& submit(PrefixBlocks prompt, std::int64_t tokens) {
    Sequence& s = *sequences_.emplace_back(std::make_unique<Sequence>());
    s.request = {.id = static_cast<std::int64_t>(sequences_.size()) - 1,
                 .input_tokens = static_cast<std::int64_t>(prompt.size()) * layers_.positions + 1,
                 .output_tokens = tokens,
                 .prefix = std::move(prompt)};
    scheduler_->submit(s);
    return s;
  }
  // One iteration; copies take no time.
  bool iterate() {
    const Iteration now = scheduler_->plan();
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

// Pools that are too small for everything, and tiers below them, at any moment of the run.
TEST(PrefixHits, AreTheLongestOfWhichEveryLayerHasWhatItNeeds) {
  std::int64_t hits = 0;
  std::int64_t cut = 0;  // shorter than what layers have that keep every position
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Rng rng(seed, "prefix hits");
    const Layers layers = some_layers(rng);
    const PrefixParts parts(layers.groups, layers.block, layers.positions);
    BlockLimits limits;
    for (std::int64_t k = between(rng, 0, 2); k > 0; --k)
      limits.prefix_levels.push_back(between(rng, 0, 60));
    if (rng.uniform() < 0.5) limits.write_policy = WritePolicy::write_back;
    if (rng.uniform() < 0.5) limits.states = KeptStates::all;
    const std::int64_t most = parts.most_blocks(kNames * layers.positions + 12);
    Served server(layers, most + between(rng, 0, 2 * most), between(rng, 3, 40), limits);
    std::vector<PrefixBlocks> prompts;
    for (int k = 0; k < 30; ++k) {
      prompts.push_back(some_prompt(rng, between(rng, 1, kNames)));
      server.submit(prompts.back(), between(rng, 1, 8));
      for (std::int64_t n = between(rng, 0, 6); n > 0; --n) server.iterate();
      const PrefixBlocks prompt = some_prompt(rng, kNames);
      const KvPool::Found found = server.pool().find(prompt);
      ASSERT_EQ(found.entries, brute_force(layers, server.pool(), prompt));
      ASSERT_LE(found.entries, found.matched);
      hits += found.entries > 0 ? 1 : 0;
      cut += found.entries < found.matched && parts.whole_blocks() > 0 ? 1 : 0;
    }
    while (server.iterate()) {
    }
    // No sequence has a block now, so what is occupied are the parts, each once.
    auto held = held_by_level(layers, server.pool(), prompts);
    EXPECT_EQ(server.pool().used(), 0);
    EXPECT_EQ(server.pool().occupied(), held[0]);
    for (std::int64_t level = 1; level <= std::ssize(limits.prefix_levels); ++level)
      if (limits.write_policy == WritePolicy::write_back)
        EXPECT_EQ(server.pool().below(level), held[level]) << level;
      else
        EXPECT_GE(server.pool().below(level), held[level]) << level;
  }
  EXPECT_GT(hits, 1000);
  EXPECT_GT(cut, 300);
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
