#include <gtest/gtest.h>

#include "hwmodels/link/pcie.hpp"
#include "tests/unit/hwmodels/link_rate.hpp"

namespace tiersim::pcie_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::rate_of;

PcieConfig x16(double raw_gbps, double efficiency, Bytes max_payload) {
  PcieConfig c;
  c.raw.value = Bandwidth::from_base(static_cast<std::int64_t>(raw_gbps * 1e9));
  c.link_efficiency.value = efficiency;
  c.max_payload.value = max_payload;
  c.max_read_request.value = 512_B;
  c.latency.value = 1us;
  return c;
}
std::unique_ptr<Link> gen5_x16(Bytes max_payload, double efficiency) {
  return make_device(x16(63.015, efficiency, max_payload));
}

// Figures of the pcie-bench model (Neugebauer et al., SIGCOMM 2018) for x16 at an MRRS of 512 B.
// Its share for ACK, flow control and SKIP depends on the MPS alone. It treats Gen6 like the
// others, with ACK packets and framing, on 121 GB/s. Band: 1 %.
struct TlpRow {
  double raw;
  double efficiency;
  std::int64_t max_payload;
  std::int64_t run;
  double read;
  double write;
};
constexpr TlpRow kTlpModel[] = {
    {15.754, 13.962 / 15.754, 128, 32, 8.592, 7.979},
    {15.754, 13.962 / 15.754, 128, 4096, 12.076, 11.758},
    {15.754, 14.213 / 15.754, 256, 64, 10.829, 10.336},
    {15.754, 14.213 / 15.754, 256, 4096, 13.183, 12.994},
    {15.754, 14.328 / 15.754, 512, 4096, 13.789, 13.686},
    {31.508, 27.925 / 31.508, 128, 64, 21.276, 20.309},
    {31.508, 28.425 / 31.508, 256, 128, 24.584, 23.937},
    {31.508, 28.425 / 31.508, 256, 4096, 26.365, 25.989},
    {31.508, 28.656 / 31.508, 512, 4096, 27.579, 27.373},
    {63.015, 55.85 / 63.015, 128, 4096, 48.303, 47.031},
    {63.015, 56.85 / 63.015, 256, 32, 34.985, 32.486},
    {63.015, 56.85 / 63.015, 256, 64, 43.314, 41.345},
    {63.015, 56.85 / 63.015, 256, 128, 49.168, 47.874},
    {63.015, 56.85 / 63.015, 256, 256, 52.73, 51.977},
    {63.015, 56.85 / 63.015, 256, 4096, 52.73, 51.977},
    {63.015, 57.312 / 63.015, 512, 4096, 55.157, 54.745},
    {121.0, 107.241 / 121.0, 128, 4096, 92.749, 90.308},
    {121.0, 109.161 / 121.0, 256, 64, 83.171, 79.39},
    {121.0, 109.161 / 121.0, 256, 4096, 101.251, 99.805},
    {121.0, 110.048 / 121.0, 512, 4096, 105.911, 105.12},
};

TEST(Pcie, PayloadRatesMatchTheTlpModel) {
  for (const TlpRow& row : kTlpModel) {
    const auto link = make_device(x16(row.raw, row.efficiency, Bytes::from_base(row.max_payload)));
    const Bytes run = Bytes::from_base(row.run);
    EXPECT_NEAR(rate_of(*link, run * 1000, 0_B, run), row.read, 0.01 * row.read)
        << row.raw << ' ' << row.max_payload << ' ' << row.run;
    EXPECT_NEAR(rate_of(*link, 0_B, run * 1000, run), row.write, 0.01 * row.write)
        << row.raw << ' ' << row.max_payload << ' ' << row.run;
  }
}

// The same model with completions cut at 64 B: 42.552 GB/s of long reads at an MPS of 128 B.
TEST(Pcie, ShortCompletionsCostAHeaderEach) {
  PcieConfig c = x16(63.015, 55.85 / 63.015, 128_B);
  c.max_completion = {.value = 64_B};
  const auto link = make_device(c);
  EXPECT_NEAR(rate_of(*link, 4096_B * 1000, 0_B, 4096_B), 42.552, 0.01 * 42.552);
  EXPECT_NEAR(rate_of(*link, 0_B, 4096_B * 1000, 4096_B), 47.031, 0.01 * 47.031);
}

// Gen6 x16: 128 GB/s of flits, 236 of 256 B transaction packets: 118 GB/s, and 256 of 268 B data.
TEST(Pcie, FlitsLeaveAFixedShare) {
  PcieConfig c = x16(128, 236.0 / 256, 256_B);
  c.request_header.value = 16_B;
  c.completion_header.value = 12_B;
  EXPECT_NEAR(rate_of(*make_device(c), 4096_B * 1000, 0_B, 4096_B), 118.0 * 256 / 268, 1e-3);
  EXPECT_NEAR(rate_of(*make_device(c), 0_B, 4096_B * 1000, 4096_B), 118.0 * 256 / 272, 1e-3);
}

TEST(Pcie, RemovingAnOverheadNeverLowersTheRate) {
  for (const std::int64_t bytes : {1, 64, 300, 4096}) {
    const Bytes run = Bytes::from_base(bytes);
    PcieConfig c = x16(63.015, 0.9, 256_B);
    const double with_all = rate_of(*make_device(c), run * 1000, 0_B, run);
    c.completion_header.value = 0_B;
    const double no_header = rate_of(*make_device(c), run * 1000, 0_B, run);
    c.link_efficiency.value = 1.0;
    const double bare = rate_of(*make_device(c), run * 1000, 0_B, run);
    EXPECT_LE(with_all, no_header) << run.in_base();
    EXPECT_LE(no_header, bare) << run.in_base();
    EXPECT_LE(bare, 63.015 * 1.0001);
  }
}

TEST(Pcie, APostedWriteTakesOneWayOfTheRoundTrip) {
  const auto link = gen5_x16(256_B, 1.0);
  EXPECT_EQ(link->cost(Direction::read, 1_MiB, 1_MiB).latency, 1us);
  EXPECT_EQ(link->cost(Direction::write, 1_MiB, 1_MiB).latency, 500ns);
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

// Without headers to speak of, 63 GB/s each way and at most 70 GB/s both ways together.
TEST(Pcie, BothDirectionsMayHaveALimitTogether) {
  PcieConfig c = x16(63, 1.0, 4096_B);
  c.request_header.value = c.completion_header.value = 0_B;
  const Bytes mib = 1_MiB;
  EXPECT_NEAR(rate_of(*make_device(c), mib, mib, 4096_B), 126, 1e-3);
  c.both_directions = {.value = 70_GBps};
  EXPECT_NEAR(rate_of(*make_device(c), mib, 0_B, 4096_B), 63, 1e-3);
  EXPECT_NEAR(rate_of(*make_device(c), 0_B, mib, 4096_B), 63, 1e-3);
  EXPECT_NEAR(rate_of(*make_device(c), mib, mib, 4096_B), 70, 1e-3);
  EXPECT_NEAR(rate_of(*make_device(c), 3 * mib, mib, 4096_B), 70, 1e-3);
  EXPECT_NEAR(rate_of(*make_device(c), 9 * mib, mib, 4096_B), 70, 1e-3);
}

}  // namespace
}  // namespace tiersim::pcie_test
