// A hundred million commands of random traffic, all of them checked.
#include <gtest/gtest.h>

#include "tests/property/dram_random_traffic.hpp"

namespace tiersim::dram_random_commands_nightly_test {
namespace {

using namespace dram_test;

constexpr std::int64_t kCommands = 100'000'000;
constexpr std::uint64_t kSeed = 1009;

TEST(DramRandomTrafficNightly, KeepsEveryTimingRule) {
  Rng rng(kSeed, "dram.random_traffic");
  std::int64_t commands = 0;
  for (int round = 0; commands < kCommands; ++round) {
    const DramPacketConfig config = random_config(rng);
    const DramProbe probe = random_probe(rng, 500'000);
    const DramReport report = checked_run(config, DramClocks(config.timings), probe);
    commands += report.commands;
    ASSERT_EQ(report.violations, 0) << "seed " << kSeed << ", round " << round << '\n'
                                    << listed(report);
  }
}

}  // namespace
}  // namespace tiersim::dram_random_commands_nightly_test
