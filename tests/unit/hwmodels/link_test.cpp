#include <cmath>

#include <gtest/gtest.h>

#include "hwmodels/link/cxl.hpp"
#include "hwmodels/link/hop.hpp"
#include "tests/unit/hwmodels/link_rate.hpp"

namespace tiersim::link_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::rate_of;

std::unique_ptr<Link> cxl_x8(std::int64_t ports) {
  CxlConfig c;
  c.raw.value = 32_GBps;
  c.ports = Sourced<std::int64_t>{.value = ports};
  return make_device(c);
}

// CXL 2.0 x8: published points 26.4 GB/s for reads, 37.5 at 2:1, 23.7 for writes; band 5 %, and the
// slot formula itself to its own rounding.
TEST(Cxl, MixesMatchTheSlotFormula) {
  const auto link = cxl_x8(1);
  const double slots = 32e9 * 128 / 130 / 68 * 4;
  for (const auto& [reads, published] :
       {std::pair{1.0, 26.4}, std::pair{2.0 / 3, 37.5}, std::pair{0.0, 23.7}}) {
    const std::int64_t read_lines = std::llround(3000 * reads);
    const double rate = rate_of(*link, 64_B * read_lines, 64_B * (3000 - read_lines), 64_B);
    const double lines = slots / std::max(4.5 * reads + 0.5 * (1 - reads), reads + 5 * (1 - reads));
    EXPECT_NEAR(rate, lines * 64 / 1e9, 1e-3) << reads;
    EXPECT_NEAR(rate, published, 0.05 * published) << reads;
  }
}

TEST(Cxl, TwiceThePortsMoveTheSameBytesInHalfTheTime) {
  EXPECT_NEAR(rate_of(*cxl_x8(2), 1_MiB, 0_B, 256_B), 2 * rate_of(*cxl_x8(1), 1_MiB, 0_B, 256_B),
              1e-3);
}

TEST(Cxl, ShortRunsMoveWholeLines) {
  EXPECT_EQ(cxl_x8(1)->cost(Direction::read, 100_B, 2_B).moved, 50 * 64_B);
}

TEST(Hop, AddsItsLatencyForEachCrossing) {
  HopConfig c;
  c.latency.value = 90ns;
  c.crossings.value = 2;
  const auto cost = make_device(c)->cost(Direction::read, 1_MiB, 64_B);
  EXPECT_EQ(cost.latency, 180ns);
  EXPECT_TRUE(cost.charges.empty());
}

// Gen6 x8 about 54 GB/s of reads, x16 about 108 (derived from slots of 256 B flits); band 5 %.
TEST(Cxl, LargeFlitsHaveFifteenSlots) {
  CxlConfig c;
  c.raw.value = 64_GBps;
  c.ports = Sourced<std::int64_t>{.value = 1};
  c.flit.value = 256_B;
  EXPECT_NEAR(rate_of(*make_device(c), 1_MiB, 0_B, 64_B), 64.0 * 15 / 256 / 4.5 * 64, 1e-3);
  EXPECT_NEAR(rate_of(*make_device(c), 1_MiB, 0_B, 64_B), 54, 0.05 * 54);
  c.raw.value = 128_GBps;
  EXPECT_NEAR(rate_of(*make_device(c), 1_MiB, 0_B, 64_B), 108, 0.05 * 108);
}

// 48 lines of 64 B each 256 ns are 12 GB/s, on a link that could carry 26; writes do not wait.
TEST(Cxl, ReadsInFlightLimitReadsOnly) {
  CxlConfig c;
  c.raw.value = 32_GBps;
  c.ports = Sourced<std::int64_t>{.value = 2};
  const auto free = make_device(c);
  c.reads_in_flight = CxlReadsInFlight{.lines = {.value = 48}, .time = {.value = 256ns}};
  const auto limited = make_device(c);
  EXPECT_NEAR(rate_of(*limited, 1_MiB, 0_B, 64_B), 2 * 12, 1e-3);
  EXPECT_EQ(rate_of(*limited, 0_B, 1_MiB, 64_B), rate_of(*free, 0_B, 1_MiB, 64_B));
}

TEST(Hop, APostedWriteCrossesOnce) {
  HopConfig c;
  c.latency.value = 90ns;
  c.crossings.value = 1;
  EXPECT_EQ(make_device(c)->cost(Direction::write, 1_MiB, 64_B).latency, 45ns);
}

TEST(Hop, HasACapacityWhereOneIsStated) {
  HopConfig c;
  c.latency.value = 90ns;
  c.crossings.value = 1;
  c.capacity = {.value = 10_GBps};
  const auto hop = make_device(c);
  EXPECT_NEAR(rate_of(*hop, 1_MiB, 0_B, 64_B), 10, 1e-3);
  EXPECT_NEAR(rate_of(*hop, 1_MiB, 1_MiB, 64_B), 20, 1e-3);
}

}  // namespace
}  // namespace tiersim::link_test
