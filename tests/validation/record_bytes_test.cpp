// The reports of bytes for every shipped scenario, against its accounting.
#include "reports/footprint/record_bytes.hpp"

#include <gtest/gtest.h>

#include "sim/step/simulate.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::record_bytes_test {
namespace {

class ShippedBytes : public ::testing::TestWithParam<std::string> {
 protected:
  static std::int64_t sum(const BytesByClass& by_class) {
    std::int64_t out = 0;
    for (const auto& [name, bytes] : by_class) out += bytes;
    return out;
  }
};

TEST_P(ShippedBytes, AreThoseOfTheAccounting) {
  const auto result = simulate(testing::scenario(GetParam()), Evaluation::accounting);
  ASSERT_TRUE(result) << result.error();
  const RunRecord& record = result->record;
  const System& system = *result->system;
  std::size_t tiers = 0;
  for (const TierBytes& tier : tier_bytes(record)) {
    const auto& names = system.tier_names();
    const auto at = static_cast<std::size_t>(std::ranges::find(names, tier.tier) - names.begin());
    ASSERT_LT(at, names.size());
    EXPECT_EQ(tier.sum, total(result->accounting.footprint[at]).in_base()) << tier.tier;
    EXPECT_EQ(tier.sum, sum(tier.by_class));
    EXPECT_EQ(tier.sum * tier.sharers, record.footprint_bytes.at(tier.tier));
    ++tiers;
  }
  EXPECT_GE(tiers, 1U);

  for (const DeviceBytes& device : device_bytes(record)) {
    const auto& names = system.device_names();
    const auto at =
        static_cast<std::size_t>(std::ranges::find(names, device.device) - names.begin());
    ASSERT_LT(at, names.size());
    const auto& [read, write] = result->accounting.traffic[at];
    EXPECT_EQ(device.payload.read, total(read.payload).in_base()) << device.device;
    EXPECT_EQ(device.payload.write, total(write.payload).in_base());
    EXPECT_EQ(device.moved.read, total(read.moved).in_base());
    EXPECT_EQ(device.moved.write, total(write.moved).in_base());
    EXPECT_EQ(device.payload.read, sum(device.read));
    EXPECT_EQ(device.payload.write, sum(device.write));
    std::int64_t wire = 0;
    for (std::size_t c = 0; c < system.channels().size(); ++c)
      if (const std::string& name = system.channels()[c].name;
          name.starts_with(device.device + '.') && name != device.device + ".write")
        wire += result->accounting.busy[c].in_base();
    EXPECT_EQ(device.wire, wire) << device.device;
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, ShippedBytes, ::testing::ValuesIn(testing::shipped_scenarios()),
                         [](const auto& instance) { return testing::test_name(instance.param); });

}  // namespace
}  // namespace tiersim::record_bytes_test
