#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "hwmodels/link/cxl.hpp"
#include "hwmodels/link/hop.hpp"
#include "hwmodels/link/pcie.hpp"

namespace tiersim {
namespace {

using namespace std::chrono_literals;
using namespace literals;

/// GB/s of payload when accesses of the given costs run at the same time, payloads in the same
/// ratio.
double rate_of(const Link& link, Bytes reads, Bytes writes, Bytes run) {
  std::array<Bytes, 2> busy{};
  const auto add = [&](Direction direction, Bytes payload) {
    if (payload == 0_B) return;
    for (const Charge& charge : link.cost(direction, payload, run).charges)
      busy[charge.channel] += charge.busy;
  };
  add(Direction::read, reads);
  add(Direction::write, writes);
  Duration longest{};
  for (std::size_t c = 0; c < link.channels().size(); ++c)
    longest = std::max(longest, busy[c] / link.channels()[c].capacity);
  return static_cast<double>((reads + writes).in_base()) / to_seconds(longest) / 1e9;
}

std::unique_ptr<Link> gen5_x16(Bytes max_payload, double efficiency) {
  PcieConfig c;
  c.raw.value = Bandwidth::from_base(63'015'000'000);
  c.link_efficiency.value = efficiency;
  c.max_payload.value = max_payload;
  c.max_read_request.value = 512_B;
  return make_device(c);
}

// Figures of the pcie-bench model (Neugebauer et al., SIGCOMM 2018) for Gen5 x16; its share for
// ACK, flow control and SKIP is 56.85/63.015 at an MPS of 256 B and 55.85/63.015 at 128 B. Band: 1
// %.
TEST(Pcie, PayloadRatesMatchTheTlpModel) {
  struct Row {
    std::int64_t run;
    double read;
    double write;
  };
  const auto link = gen5_x16(256_B, 0.9022);
  for (const Row& row : {Row{32, 34.985, 32.486}, Row{64, 43.314, 41.345}, Row{128, 49.168, 47.874},
                         Row{256, 52.73, 51.977}, Row{4096, 52.73, 51.977}}) {
    const Bytes run = Bytes::from_base(row.run);
    EXPECT_NEAR(rate_of(*link, run * 1000, 0_B, run), row.read, 0.01 * row.read) << row.run;
    EXPECT_NEAR(rate_of(*link, 0_B, run * 1000, run), row.write, 0.01 * row.write) << row.run;
  }
  const auto narrow = gen5_x16(128_B, 0.8863);
  EXPECT_NEAR(rate_of(*narrow, 4096_B * 1000, 0_B, 4096_B), 48.303, 0.01 * 48.303);
}

TEST(Pcie, ReadsTakeRequestsTheOtherWay) {
  const auto cost = gen5_x16(256_B, 1.0)->cost(Direction::read, 1024_B, 1024_B);
  ASSERT_EQ(cost.charges.size(), 2U);
  EXPECT_EQ(cost.charges[0].busy, 1024_B + 4 * 20_B);  // four completions
  EXPECT_EQ(cost.charges[1].busy, 2 * 24_B);           // two requests of 512 B
}

TEST(Pcie, AShortLastPacketPaysAWholeHeader) {
  const auto cost = gen5_x16(256_B, 1.0)->cost(Direction::write, 300_B, 300_B);
  ASSERT_EQ(cost.charges.size(), 1U);
  EXPECT_EQ(cost.charges[0].busy, 300_B + 2 * 24_B);
}

std::unique_ptr<Link> cxl_x8(std::int64_t ports) {
  CxlConfig c;
  c.raw.value = 32_GBps;
  c.ports.value = ports;
  return make_device(c);
}

// CXL 2.0 x8: published points 26.4 GB/s for reads, 37.5 at 2:1, 23.7 for writes; band 5 %, and the
// slot formula itself to its own rounding.
TEST(Cxl, MixesMatchTheSlotFormula) {
  const auto link = cxl_x8(1);
  const double slots = 32e9 * 128 / 130 / 68 * 4;
  for (const auto& [reads, published] :
       {std::pair{1.0, 26.4}, std::pair{2.0 / 3, 37.5}, std::pair{0.0, 23.7}}) {
    const std::int64_t read_lines = static_cast<std::int64_t>(3000 * reads + 0.5);
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

}  // namespace
}  // namespace tiersim
