#pragma once
// What holds of every shipped configuration's record, for tests that have made one anyway.
#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "reports/footprint/record_bytes.hpp"
#include "sim/step/simulate.hpp"

namespace tiersim::testing {

/// Read again and written, a record is the same text, and the compact form has the same content.
void expect_round_trip(const RunRecord& before);

inline std::int64_t sum(const BytesByClass& by_class) {
  std::int64_t out = 0;
  for (const auto& [name, bytes] : by_class) out += bytes;
  return out;
}

/// The bytes of each tier in reports are those of the accounting.
inline void expect_tier_bytes(const Simulation& sim) {
  const auto& names = sim.system->tier_names();
  std::size_t tiers = 0;
  for (const TierBytes& tier : tier_bytes(sim.record)) {
    const auto at = static_cast<std::size_t>(std::ranges::find(names, tier.tier) - names.begin());
    ASSERT_LT(at, names.size());
    EXPECT_EQ(tier.sum, total(sim.accounting.footprint[at]).in_base()) << tier.tier;
    EXPECT_EQ(tier.sum, sum(tier.by_class));
    EXPECT_EQ(tier.sum * tier.sharers, sim.record.footprint_bytes.at(tier.tier));
    ++tiers;
  }
  EXPECT_GE(tiers, 1U);
}

/// The bytes of each device in reports are those of the accounting.
inline void expect_device_bytes(const Simulation& sim) {
  const System& system = *sim.system;
  const auto& names = system.device_names();
  for (const DeviceBytes& device : device_bytes(sim.record)) {
    const auto at =
        static_cast<std::size_t>(std::ranges::find(names, device.device) - names.begin());
    ASSERT_LT(at, names.size());
    const auto& [read, write] = sim.accounting.traffic[at];
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
        wire += sim.accounting.busy[c].in_base();
    EXPECT_EQ(device.wire, wire) << device.device;
  }
}

}  // namespace tiersim::testing
