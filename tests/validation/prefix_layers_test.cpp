// Prefix caches of models whose layers keep different positions, on the shipped trace of
// conversations. Its pool has room for all of it, so that windows and chunks cost no hit, and each
// named block is kept and written through once.
#include <gtest/gtest.h>

#include "tests/support/served.hpp"

namespace tiersim::prefix_layers_test {
namespace {

RunRecord with(const std::string& model, const std::vector<std::string>& more = {}) {
  std::vector<std::string> set{"model.base=models/" + model + ".yaml",
                               "system.base=systems/h200_cxl_pool.yaml", "system.gpus.count=1",
                               "measure.warm_up=0"};
  set.insert(set.end(), more.begin(), more.end());
  return testing::served("serving/trace_mooncake.yaml", set);
}

KvMove moved(const RunRecord& record, const std::string& name) {
  for (const KvMove& move : record.serving->moves)
    if (move.name == name) return move;
  return {};
}

std::int64_t most_held(const RunRecord& record, const std::string& tier) {
  for (const KvTierUse& use : record.serving->tiers)
    if (use.name == tier) return use.max_bytes;
  return -1;
}

constexpr std::int64_t kKiB = 1024;

// Bytes of a named block of 512 positions. Llama-3 8B: 2 * 32 layers * 8 * 128 * 2 B a position.
constexpr std::int64_t kLlama3 = 512 * 128 * kKiB;
// gpt-oss 20B: 12 layers keep 512 positions of 2 * 8 * 64 * 2 B, and 12 the last 128.
constexpr std::int64_t kGptOss = 12 * (512 + 128) * 2 * kKiB;
// Mistral 7B: all layers have a window of 4096 positions, which eight named blocks fill.
constexpr std::int64_t kMistral = 512 * 128 * kKiB;

TEST(PrefixesOfWindows, AreFoundAndStoredAsThoseOfLayersThatKeepAll) {
  const RunRecord whole = with("llama3_8b");
  const std::int64_t names = moved(whole, "prefix_store").bytes / kLlama3;
  EXPECT_EQ(moved(whole, "prefix_store").bytes % kLlama3, 0);
  EXPECT_GT(names, 20);
  for (const auto& [model, bytes] :
       {std::pair{"gpt_oss_20b", kGptOss}, std::pair{"mistral_7b", kMistral}}) {
    SCOPED_TRACE(model);
    const RunRecord record = with(model);
    EXPECT_EQ(record.serving->counts.cached_tokens, whole.serving->counts.cached_tokens);
    EXPECT_EQ(moved(record, "prefix_store").bytes, names * bytes);
    EXPECT_EQ(most_held(record, "pool"), names * bytes);
    EXPECT_EQ(record.metrics.at("copy_wait_share").value, 0);
  }
}

// A pool of a few prompts, 792 blocks instead of 234,377: some of what is shared is lost, not all.
TEST(PrefixesOfWindows, AreFewerInASmallPool) {
  const auto hits = [](const std::vector<std::string>& set) {
    std::vector<std::string> alone{"server.prefix_cache.tiers=[]"};
    alone.insert(alone.end(), set.begin(), set.end());
    return with("gpt_oss_20b", alone).serving->counts.cached_tokens;
  };
  const std::int64_t few = hits({"placement.near_share=0.33", "server.kv.share=0.05"});
  EXPECT_GT(few, 0);
  EXPECT_LT(few, hits({}));
}

// Kimi Linear: the states of 20 layers are 20 (32 * 128 * 128 * 4 + 3 * 12288 * 2) B. HBM reads and
// writes them at most at its 4.8 TB/s, and at less than 1.25 times that time.
TEST(PrefixesOfStates, TakeTheBytesAndTheTimeOfTheCopies) {
  const RunRecord record = with("kimi_linear_48b_a3b");
  constexpr std::int64_t kState = 43'417'600;
  const KvMove load = moved(record, "state_load");
  const KvMove store = moved(record, "state_store");
  EXPECT_GT(load.count, 0);
  EXPECT_EQ(load.bytes, load.count * kState);
  EXPECT_EQ(store.bytes, store.count * kState);
  // The tier below has 32 blocks of 129,024 B of each named block, and 337 of each state.
  const std::int64_t names = moved(with("llama3_8b"), "prefix_store").bytes / kLlama3;
  EXPECT_EQ(moved(record, "prefix_store").bytes, (32 * names + 337 * store.count) * 129'024);
  EXPECT_EQ(most_held(record, "pool"), moved(record, "prefix_store").bytes);
  const auto [from, to] = record.serving->window_s;
  const double wait = record.metrics.at("copy_wait_share").value * (to - from);
  const double least = 2 * static_cast<double>(load.bytes + store.bytes) / 4.8e12;
  EXPECT_GT(wait, least);
  EXPECT_LT(wait, 1.25 * least);
}

// The layers that keep every position find at least what the model does, and more states find more.
TEST(PrefixesOfStates, AreFoundWhereOneWasKept) {
  const auto hits = [](const RunRecord& record) { return record.serving->counts.cached_tokens; };
  const std::int64_t last = hits(with("kimi_linear_48b_a3b"));
  const std::int64_t all = hits(with("kimi_linear_48b_a3b", {"server.prefix_cache.states=all"}));
  EXPECT_GT(last, 0);
  EXPECT_LT(last, all);
  EXPECT_LE(all, hits(with("llama3_8b")));
}

TEST(PrefixesOfStates, ShortenTheTimeToTheFirstToken) {
  const auto first_token = [](const RunRecord& record) {
    return record.metrics.at("ttft_s.mean").value;
  };
  EXPECT_LT(first_token(with("kimi_linear_48b_a3b")),
            first_token(with("kimi_linear_48b_a3b",
                             {"server.prefix_cache=", "server.routing=fewest_requests"})));
}

}  // namespace
}  // namespace tiersim::prefix_layers_test
