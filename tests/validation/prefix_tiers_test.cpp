// Tiers below the pool of KV blocks, on the shipped example of shared prompts: writing blocks
// through to them costs the prompts nothing, so that each tier that is added shortens the time to
// the first token, or leaves it as it was.
#include <gtest/gtest.h>

#include "tests/support/served.hpp"

namespace tiersim::prefix_tiers_test {
namespace {

RunRecord with(const std::string& tiers, const std::vector<std::string>& more) {
  std::vector<std::string> set{
      "system.tiers.nvme={memory: {base: devices/nvme_gen4.yaml}, path: [pcie, root_complex]}",
      "server.prefix_cache.tiers=" + tiers};
  set.insert(set.end(), more.begin(), more.end());
  return testing::served("serving/llama2_7b_rtx4090_prefix_cache.yaml", set);
}

double first_token(const RunRecord& record) {
  return record.metrics.at("ttft_s.mean").value;
}

constexpr const char* kNone = "[]";
constexpr const char* kHost = "[{tier: pool, capacity: 32 GB}]";
constexpr const char* kDrives = "[{tier: nvme, capacity: 500 GB}]";
constexpr const char* kBoth = "[{tier: pool, capacity: 32 GB}, {tier: nvme, capacity: 500 GB}]";

class PrefixTiers : public ::testing::TestWithParam<const char*> {
 protected:
  RunRecord run(const std::string& tiers) const {
    return with(tiers, {std::string("workload.replay.speed=") + GetParam()});
  }
};

TEST_P(PrefixTiers, ShortenTheTimeToTheFirstToken) {
  const RunRecord none = run(kNone);
  const RunRecord host = run(kHost);
  const RunRecord drives = run(kDrives);
  const RunRecord both = run(kBoth);
  EXPECT_LT(none.metrics.at("prefix_hit_rate").value, host.metrics.at("prefix_hit_rate").value);
  EXPECT_LT(first_token(host), first_token(none));
  EXPECT_LT(first_token(drives), first_token(none));
  EXPECT_LT(first_token(host), first_token(drives));
  EXPECT_LE(first_token(both), first_token(host));
  for (const RunRecord& record : {none, host, drives, both})
    EXPECT_EQ(record.metrics.at("copy_wait_share").value, 0);
}

INSTANTIATE_TEST_SUITE_P(Speeds, PrefixTiers, ::testing::Values("1", "4"),
                         [](const auto& speed) { return std::string("times") + speed.param; });

// Under write-back the iteration that needs the room waits for the copy, and the record says so.
TEST(WriteBack, LetsIterationsWaitForCopies) {
  const RunRecord back = with(kHost, {"server.prefix_cache.write_policy=write_back"});
  EXPECT_GT(back.metrics.at("copy_wait_share").value, 0);
  EXPECT_EQ(back.metrics.at("host_wait_share").value,
            with(kHost, {}).metrics.at("host_wait_share").value);
  EXPECT_GT(first_token(back), first_token(with(kHost, {})));
}

// A block in one piece has one descriptor, in layers it has 64: what waits is shorter.
TEST(WriteBack, WaitsLessForBlocksInOnePiece) {
  const auto wait = [](const std::string& layout) {
    return with(kHost, {"server.prefix_cache.write_policy=write_back",
                        "server.kv.memory_layout=" + layout})
        .metrics.at("copy_wait_share")
        .value;
  };
  EXPECT_LT(wait("page_first"), wait("layer_first"));
}

// The second prompt waits for its 624 blocks of 16 positions, 2 MiB each, at the rate of the copy
// engine, and for the latency and launch of one copy. The first one finds nothing.
TEST(LoadTime, IsThatOfTheBlocksThatComeFromTheTier) {
  const char* file = "serving/validation/vllm_llama31_8b_h100_offload.yaml";
  const RunRecord record = testing::served(file, {});
  const double load = record.metrics.at("load_time_s.mean").value;
  const double bytes = 624.0 * 16 * 131072;
  EXPECT_GT(load, bytes / 48e9);
  EXPECT_LT(load, bytes / 48e9 + 20e-6);
  EXPECT_LE(load, record.metrics.at("queue_time_s.mean").value);
  const RunRecord alone = testing::served(file, {"workload.sessions.count=1", "measure.warm_up=0"});
  EXPECT_EQ(alone.metrics.at("load_time_s.mean").value, 0);
  EXPECT_EQ(alone.metrics.at("prefix_hit_rate").value, 0);
}

// Over a link a thousand times slower a prompt computes what it would have loaded, and waits no
// longer than one that found nothing.
TEST(LoadOrCompute, TakesWhatIsFaster) {
  const char* file = "serving/validation/vllm_llama31_8b_h100_offload.yaml";
  const auto run = [&](const char* load, const char* far) {
    return testing::served(file, {std::string("server.prefix_cache.load=") + load,
                                  std::string("what_if.far_bandwidth=") + far});
  };
  const RunRecord fast = run("if_faster", "1");
  EXPECT_EQ(fast.metrics.at("prefix_recompute_rate").value, 0);
  EXPECT_EQ(first_token(fast), first_token(run("always", "1")));
  const RunRecord slow = run("if_faster", "0.001");
  EXPECT_NEAR(slow.metrics.at("prefix_recompute_rate").value, 0.9984, 1e-9);  // 9984 of 10000
  EXPECT_EQ(slow.metrics.at("prefix_hit_rate").value, 0);
  EXPECT_EQ(fast.metrics.at("recompute_time_s.mean").value, 0);
  EXPECT_NEAR(slow.metrics.at("recompute_time_s.mean").value,
              0.9984 * slow.metrics.at("prefill_time_s.mean").value, 1e-9);
  EXPECT_GT(first_token(run("always", "0.001")), 10 * first_token(slow));
}

}  // namespace
}  // namespace tiersim::prefix_tiers_test
