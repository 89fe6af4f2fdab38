// Tiers below the pool of KV blocks, on the shipped example of shared prompts: writing blocks
// through to them costs the prompts nothing, so that each tier that is added shortens the time to
// the first token, or leaves it as it was.
#include <gtest/gtest.h>

#include "tests/validation/served.hpp"

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

}  // namespace
}  // namespace tiersim::prefix_tiers_test
