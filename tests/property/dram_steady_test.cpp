// In a steady state a pseudo channel allocates nothing. Counts every operator new of this binary.
#include "tests/support/allocations.hpp"

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "tests/unit/packet/dram_support.hpp"

namespace tiersim::dram_steady_test {
namespace {

using namespace dram_test;

// Random atoms at .2 of the peak, reads and writes, with refresh.
void run_atoms(PseudoChannel& channel, Rng& rng, std::int64_t& clock, std::int64_t atoms,
               std::vector<DramDone>& done) {
  for (std::int64_t i = 0; i < atoms; ++i) {
    clock += static_cast<std::int64_t>(rng.below(21));
    channel.run_until(clock, done);
    done.clear();
    const std::uint64_t bits = rng.next();
    channel.push({.arrival = clock,
                  .row = static_cast<std::uint32_t>(bits >> 40U) & 0x3FFFU,
                  .bank = static_cast<std::uint16_t>(bits & 31U),
                  .write = (bits >> 8U & 3U) == 0},
                 done);
  }
}

TEST(DramSteady, AllocatesNothingForAnAtom) {
  const DramPacketConfig config = hbm3();
  PseudoChannel channel(DramClocks(config.timings), shape_of(config), config.scheduler);
  Rng rng(1, "dram.steady");
  std::vector<DramDone> done;
  done.reserve(1 << 16U);
  std::int64_t clock = 0;
  run_atoms(channel, rng, clock, 100'000, done);  // the waiting room has grown
  const std::uint64_t before = testing::allocations();
  run_atoms(channel, rng, clock, 100'000, done);
  EXPECT_EQ(testing::allocations() - before, 0U);
  channel.run_until(PseudoChannel::kNever, done);
  EXPECT_EQ(channel.counts().pushed, 200'000);
  EXPECT_EQ(channel.in_flight(), 0);
}

}  // namespace
}  // namespace tiersim::dram_steady_test
