#include "workloads/trace/lru_curve.hpp"

#include <cmath>
#include <list>
#include <set>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"

namespace tiersim::lru_curve_test {
namespace {

using Prompt = std::vector<std::uint64_t>;

// Prompts of a random tree: each goes on from a random depth of an earlier one.
std::vector<Prompt> random_prompts(std::uint64_t seed, std::size_t count, std::uint64_t longest) {
  Rng rng(seed, "prompts");
  std::vector<Prompt> out;
  std::uint64_t name = 1000;
  for (std::size_t i = 0; i < count; ++i) {
    Prompt prompt;
    if (!out.empty() && rng.below(4) != 0) {
      const Prompt& before = out[rng.below(out.size())];
      prompt.assign(before.begin(),
                    before.begin() + static_cast<std::ptrdiff_t>(rng.below(before.size() + 1)));
    }
    for (std::uint64_t more = rng.below(longest); more > 0 || prompt.empty(); more -= more > 0)
      prompt.push_back(name++);
    out.push_back(prompt);
  }
  return out;
}

// A cache of whole blocks that throws the block away that was used longest ago.
class Cache {
 public:
  explicit Cache(std::size_t blocks) : blocks_(blocks) {}
  /// Blocks found; they are always the first ones of the prompt.
  std::int64_t use(const Prompt& prompt) {
    std::int64_t found = 0;
    bool goes_on = true;
    for (const std::uint64_t name : prompt) {
      const bool here = std::ranges::find(newest_first_, name) != newest_first_.end();
      EXPECT_TRUE(goes_on || !here) << "a block without the one before it";
      goes_on = here;
      found += here ? 1 : 0;
    }
    for (auto name = prompt.rbegin(); name != prompt.rend(); ++name) {
      newest_first_.remove(*name);
      newest_first_.push_front(*name);
    }
    if (newest_first_.size() > blocks_) newest_first_.resize(blocks_);
    return found;
  }

 private:
  std::size_t blocks_;
  std::list<std::uint64_t> newest_first_;
};

TEST(LruCurve, IsThatOfCachesOfEverySizeSimulatedOneByOne) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto prompts = random_prompts(seed, 40, 6);
    LruCurve curve;
    std::int64_t lookups = 0;
    std::set<std::uint64_t> names;
    for (const Prompt& prompt : prompts) {
      curve.look_up(prompt);
      lookups += static_cast<std::int64_t>(prompt.size());
      names.insert(prompt.begin(), prompt.end());
    }
    ASSERT_EQ(curve.lookups(), lookups);
    ASSERT_EQ(curve.distinct(), static_cast<std::int64_t>(names.size()));
    for (std::size_t blocks = 0; blocks <= names.size() + 1; ++blocks) {
      Cache cache(blocks);
      std::int64_t found = 0;
      for (const Prompt& prompt : prompts) found += cache.use(prompt);
      const HitRate rate = curve.at(static_cast<std::int64_t>(blocks));
      ASSERT_EQ(rate.rate, static_cast<double>(found) / static_cast<double>(lookups))
          << "seed " << seed << ", " << blocks << " blocks";
      ASSERT_EQ(rate.error, 0);
    }
  }
}

TEST(LruCurve, GoesOnWhereTimesWereUsedUp) {
  // Blocks 0 to 299 in turn, fifty thousand lookups: a cache of 300 finds all but the first of
  // each, and a smaller one none.
  LruCurve curve;
  constexpr std::int64_t kLookups = 50'000;
  for (std::int64_t i = 0; i < kLookups; ++i)
    curve.look_up(Prompt{static_cast<std::uint64_t>(i % 300)});
  EXPECT_EQ(curve.at(299).rate, 0);
  EXPECT_EQ(curve.at(300).rate, static_cast<double>(kLookups - 300) / kLookups);
  EXPECT_EQ(curve.distinct(), 300);
}

TEST(LruCurve, OfASampleIsOffByAsMuchAsItSays) {
  int compared = 0;
  int within_three = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto prompts = random_prompts(seed, 4000, 40);
    LruCurve all;
    LruCurve tenth(0.1);
    for (const Prompt& prompt : prompts) {
      all.look_up(prompt);
      tenth.look_up(prompt);
    }
    const auto distinct = static_cast<double>(all.distinct());
    EXPECT_NEAR(static_cast<double>(tenth.distinct()), distinct, 0.05 * distinct);
    for (std::int64_t blocks = 256; blocks < all.distinct(); blocks *= 2) {
      const HitRate sampled = tenth.at(blocks);
      EXPECT_GT(sampled.error, 0);
      EXPECT_LT(sampled.error, 0.05);
      const double off = std::abs(sampled.rate - all.at(blocks).rate);
      EXPECT_LT(off, 0.1);
      within_three += off <= 3 * sampled.error ? 1 : 0;
      ++compared;
    }
  }
  EXPECT_GE(compared, 20);
  EXPECT_GE(within_three, compared * 9 / 10);
}

TEST(LruCurve, OfNoLookupsIsNothing) {
  EXPECT_EQ(LruCurve().at(10).rate, 0);
  EXPECT_EQ(LruCurve(0.5).most().rate, 0);
}

}  // namespace
}  // namespace tiersim::lru_curve_test
