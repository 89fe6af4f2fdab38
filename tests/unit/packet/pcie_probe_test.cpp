#include <cmath>

#include <gtest/gtest.h>

#include "hwmodels/link/pcie.hpp"
#include "hwmodels/packet/pcie/pcie_probe.hpp"
#include "sim/base/rng.hpp"
#include "sim/core/engine.hpp"

namespace tiersim::pcie_probe_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

double gigabytes(Bandwidth b) {
  return static_cast<double>(b.in_base()) * 1e-9;
}
PciePacketConfig plain(Bandwidth raw) {
  PciePacketConfig c;
  c.raw.value = raw;
  c.framing.link_packet.value = 0_B;
  c.framing.skip.value = 0_B;
  return c;
}

// The pcie-bench model (Neugebauer et al., SIGCOMM 2018), MRRS 512 B, as in pcie_test.cpp; with
// the intervals of its link packets, and completions cut at MPS or at 64 B. Band: 1 %.
struct TlpRow {
  double raw;
  std::int64_t lanes;
  std::int64_t interval;
  std::int64_t max_payload;
  std::int64_t boundary;
  std::int64_t size;
  double read;
  double write;
};
constexpr TlpRow kTlpModel[] = {
    {7.877, 8, 163, 128, 128, 64, 5.397, 5.151},
    {7.877, 8, 203, 256, 256, 512, 6.711, 6.615},
    {7.877, 8, 182, 512, 512, 4096, 6.895, 6.843},
    {15.754, 16, 144, 128, 64, 32, 8.592, 7.979},
    {15.754, 16, 168, 256, 256, 4096, 13.183, 12.994},
    {31.508, 16, 144, 128, 128, 64, 21.276, 20.309},
    {31.508, 16, 168, 256, 256, 128, 24.584, 23.937},
    {63.015, 16, 144, 128, 64, 4096, 42.552, 47.031},
    {63.015, 16, 168, 256, 256, 4096, 52.73, 51.977},
    {121.0, 16, 168, 256, 256, 256, 101.251, 99.805},
};

TEST(PcieProbe, PayloadRatesMatchTheTlpModel) {
  for (const TlpRow& row : kTlpModel) {
    PciePacketConfig c;
    c.raw.value = Bandwidth::from_base(static_cast<std::int64_t>(row.raw * 1e9));
    c.max_payload.value = Bytes::from_base(row.max_payload);
    c.completion_boundary = Sourced<Bytes>{.value = Bytes::from_base(row.boundary)};
    c.framing.lanes.value = row.lanes;
    EXPECT_EQ(bytes_between_acks(c), Bytes::from_base(row.interval));
    c.requester.tags.value = 1024;
    c.host.read_latency.value = 100ns;
    PcieProbe probe;
    probe.size = Bytes::from_base(row.size);
    probe.outstanding = 1024;
    probe.transfers = 3000 + 400'000 / row.size;
    EXPECT_NEAR(gigabytes(run_pcie_probe(c, probe).bandwidth), row.read, 0.01 * row.read)
        << row.raw << ' ' << row.max_payload << ' ' << row.size;
    probe.read_share = 0;
    EXPECT_NEAR(gigabytes(run_pcie_probe(c, probe).bandwidth), row.write, 0.01 * row.write)
        << row.raw << ' ' << row.max_payload << ' ' << row.size;
  }
}

// At 1 B/ns: 24 B up, the host, 20 + 64 B down, twice the flight.
TEST(PcieProbe, AnUnloadedReadTakesTheSumOfItsParts) {
  PciePacketConfig c = plain(1_GBps);
  c.flight.value = 10ns;
  c.host.read_latency.value = 100ns;
  c.requester.latency.value = 30ns;
  PcieProbe probe{.size = 64_B, .outstanding = 1, .transfers = 1, .warm_up = 0};
  EXPECT_EQ(run_pcie_probe(c, probe).latency.mean, 24ns + 100ns + 84ns + 20ns + 30ns);
  c.requester.internal_rate = {.value = 2_GBps};
  EXPECT_EQ(run_pcie_probe(c, probe).latency.mean, 258ns + 32ns);
  probe.read_share = 0;
  c.host.write_latency.value = 5ns;
  EXPECT_EQ(run_pcie_probe(c, probe).latency.mean, 88ns + 10ns + 5ns + 30ns);
}

// N tags of d bytes and a round trip RTT give N d / RTT, up to what the wire gives: knee at
// N = W RTT / d.
TEST(PcieProbe, TagsLimitReadsUpToTheKnee) {
  PciePacketConfig c = plain(64_GBps);
  c.host.read_latency.value = 1us;
  PcieProbe probe{.size = 512_B, .outstanding = 1, .transfers = 1, .warm_up = 0};
  const double round_trip = to_seconds(run_pcie_probe(c, probe).latency.mean);
  const double wire = 64e9 * 512 / (512 + 2 * 20);
  const double knee = wire * round_trip / 512;
  probe = {.size = 512_B, .outstanding = 1024, .transfers = 20'000};
  for (const std::int64_t tags : {8, 32, 64, 110, 128, 256}) {
    c.requester.tags.value = tags;
    const PcieProbeResult result = run_pcie_probe(c, probe);
    const double limit = std::min(wire, static_cast<double>(tags) * 512 / round_trip);
    // The window may cut a round of `tags` transfers of 16 000.
    const double tolerance = limit * static_cast<double>(tags) / 16'000;
    EXPECT_NEAR(gigabytes(result.bandwidth), limit * 1e-9, tolerance * 1e-9) << tags;
    EXPECT_EQ(result.most_tags, std::min(tags, static_cast<std::int64_t>(256)));
  }
  EXPECT_GT(knee, 110);
  EXPECT_LT(knee, 128);
}

// 4 packets of 256 B in the receiver's buffer; a packet takes 10 ns, its credits come back
// 100 + 90 + 100 ns later: 1024 B in 300 ns.
TEST(PcieProbe, PostedCreditsLimitWrites) {
  PciePacketConfig c = plain(28_GBps);
  c.flight.value = 100ns;
  c.host.write_latency.value = 90ns;
  c.credits.posted_data = {.value = 64};
  c.framing.update_every = {.value = 1_B};
  const PcieProbe probe{.size = 256_B, .read_share = 0, .outstanding = 64, .transfers = 8000};
  const PcieProbeResult result = run_pcie_probe(c, probe);
  EXPECT_NEAR(gigabytes(result.bandwidth), 1024.0 / 300, 0.01);
  EXPECT_EQ(result.credits_held, 0);
  EXPECT_EQ(result.credits_issued, 8000 * (1 + 16));
}

TEST(PcieProbe, EverythingThatEnteredLeftAndLittlesLawHolds) {
  PciePacketConfig c;
  c.raw.value = 8_GBps;
  c.flight.value = 20ns;
  c.host.read_latency.value = 300ns;
  c.host.memory_rate = {.value = 6_GBps};
  c.credits = {.posted_headers = Sourced<std::int64_t>{.value = 8},
               .posted_data = Sourced<std::int64_t>{.value = 64},
               .read_headers = Sourced<std::int64_t>{.value = 4},
               .completion_headers = Sourced<std::int64_t>{.value = 16},
               .completion_data = Sourced<std::int64_t>{.value = 128}};
  for (const LinkPackets mode : {LinkPackets::paced, LinkPackets::answering}) {
    c.framing.link_packets = mode;
    const PcieProbe probe{.size = 3000_B,
                          .read_share = 0.5,
                          .addresses = PcieProbe::Addresses::random,
                          .offered = 2_GBps,
                          .transfers = 2000};
    const PcieProbeResult result = run_pcie_probe(c, probe);
    EXPECT_EQ(result.transfers, 2000);
    EXPECT_EQ(result.payload, 2000 * 3000_B);
    EXPECT_EQ(result.packets_left_behind, 0);
    EXPECT_EQ(result.credits_held, 0);
    EXPECT_GT(result.credits_issued, 0);
    const double little = result.mean_in_system * static_cast<double>(result.elapsed.count());
    EXPECT_NEAR(little / static_cast<double>(result.stays), 1.0, 1e-9);
  }
}

TEST(PcieProbe, TheSameSeedGivesTheSameRun) {
  PciePacketConfig c;
  c.raw.value = 8_GBps;
  PcieProbe probe{.size = 512_B,
                  .read_share = 0.5,
                  .addresses = PcieProbe::Addresses::random,
                  .offered = 3_GBps,
                  .transfers = 1000};
  const PcieProbeResult first = run_pcie_probe(c, probe);
  const PcieProbeResult again = run_pcie_probe(c, probe);
  EXPECT_EQ(first.elapsed, again.elapsed);
  EXPECT_EQ(first.events, again.events);
  probe.seed = 2;
  EXPECT_NE(run_pcie_probe(c, probe).elapsed, first.elapsed);
}

// A write is taken after 10 us: a read behind it waits for that, unless ordering is relaxed.
TEST(PcieProbe, AReadWaitsForTheWritesBeforeIt) {
  PciePacketConfig c = plain(1_GBps);
  c.host.write_latency.value = 10us;
  PcieProbe probe{.size = 256_B, .read_share = 0.5, .outstanding = 8, .transfers = 400};
  const Duration strict = run_pcie_probe(c, probe).elapsed;
  c.relaxed_ordering = true;
  const Duration relaxed = run_pcie_probe(c, probe).elapsed;
  EXPECT_GT(strict, relaxed);
}

/// Answers in any order.
class ShufflingMemory final : public MemoryPort {
 public:
  void serve(Engine& engine, const Request& request, Client& client) override {
    const auto delay = static_cast<std::int64_t>(rng_.below(2'000'000));
    engine.call_after(Duration(delay), [&client, tag = request.tag] { client.served(tag); });
  }

 private:
  Rng rng_{3, "memory"};
};

TEST(PcieProbe, AMemoryMayAnswerInAnyOrder) {
  PciePacketConfig c = plain(8_GBps);
  c.requester.tags.value = 16;
  ShufflingMemory memory;
  const PcieProbe probe{.size = 1000_B, .read_share = 0.5, .outstanding = 8, .transfers = 2000};
  const PcieProbeResult result = run_pcie_probe(c, probe, &memory);
  EXPECT_EQ(result.payload, 2000 * 1000_B);
  EXPECT_EQ(result.packets_left_behind, 0);
  EXPECT_EQ(result.credits_held, 0);
}

// 17 ns between reads of 64 B: 64 / 17 B/ns, far below the wire; 32 ns between writes.
TEST(PcieProbe, IntervalsLimitSmallTransfers) {
  PciePacketConfig c = plain(64_GBps);
  c.requester.read_interval.value = 17ns;
  c.requester.write_interval.value = 32ns;
  PcieProbe probe{.size = 64_B, .transfers = 5000};
  EXPECT_NEAR(gigabytes(run_pcie_probe(c, probe).bandwidth), 64.0 / 17, 1e-3 * 64 / 17);
  probe.read_share = 0;
  EXPECT_NEAR(gigabytes(run_pcie_probe(c, probe).bandwidth), 64.0 / 32, 1e-3 * 64 / 32);
}

/// The flow-level device with the same numbers; its round trip is what a request and its answer
/// take without their time on the wire.
PcieConfig flow_of(const PciePacketConfig& c) {
  PcieConfig f;
  const double every = static_cast<double>(bytes_between_acks(c).in_base());
  f.raw = c.raw;
  f.link_efficiency.value = 1 - 16 / every - 4.0 / 1538;
  f.request_header = c.request_header;
  f.completion_header = c.completion_header;
  f.max_payload = c.max_payload;
  f.max_read_request = c.max_read_request;
  f.max_completion = c.completion_boundary;
  f.latency.value = 2 * c.flight.value + c.host.read_latency.value;
  return f;
}
Duration flow_time(const PcieConfig& f, Direction direction, Bytes size) {
  const auto link = make_device(f);
  const AccessCost cost = link->cost(direction, size, size);
  Duration longest{};
  for (const auto& charge : cost.charges) {
    longest = std::max(longest, charge.busy / link->channels()[charge.channel].capacity);
  }
  return longest + cost.latency;
}

// One bottleneck, no credit or tag limit, 64 packets and more: within 2 %, with and without
// latency.
TEST(PcieProbe, AgreesWithTheFlowLevel) {
  for (const std::int64_t raw : {15'754, 31'508, 63'015}) {
    for (const std::int64_t mps : {128, 256, 512}) {
      for (const std::int64_t packets : {64, 256, 1024}) {
        for (const Duration latency : {Duration(0), Duration(1'000'000)}) {
          PciePacketConfig c;
          c.raw.value = Bandwidth::from_base(raw * 1'000'000);
          c.max_payload.value = Bytes::from_base(mps);
          c.completion_boundary = c.max_payload;
          c.requester.tags.value = 1024;
          c.flight.value = latency / 2;
          PcieProbe probe{.size = Bytes::from_base(mps * packets),
                          .outstanding = 1,
                          .transfers = 1,
                          .warm_up = 0};
          for (const Direction direction : {Direction::read, Direction::write}) {
            probe.read_share = direction == Direction::read ? 1 : 0;
            const double packet = to_seconds(run_pcie_probe(c, probe).elapsed);
            const double flow = to_seconds(flow_time(flow_of(c), direction, probe.size));
            EXPECT_NEAR(packet / flow, 1, 0.02)
                << raw << ' ' << mps << ' ' << packets << ' ' << name(direction);
          }
        }
      }
    }
  }
}

// Flits deliver at their end, so that a transfer may take two flits more, request and answer:
// within 2 % from 256 packets on, where these are .8 %.
TEST(PcieProbe, FlitsAgreeWithTheFlowLevel) {
  for (const std::int64_t packets : {256, 1024}) {
    PciePacketConfig c;
    c.raw.value = 128_GBps;
    c.flits = PcieFlits{};
    c.request_header.value = 16_B;
    c.completion_header.value = 12_B;
    c.requester.tags.value = 4096;
    PcieProbe probe{.size = packets * 256_B, .outstanding = 1, .transfers = 1, .warm_up = 0};
    for (const Direction direction : {Direction::read, Direction::write}) {
      probe.read_share = direction == Direction::read ? 1 : 0;
      PcieConfig f = flow_of(c);
      f.link_efficiency.value = 236.0 / 256;
      EXPECT_NEAR(to_seconds(run_pcie_probe(c, probe).elapsed) /
                      to_seconds(flow_time(f, direction, probe.size)),
                  1, 0.02)
          << packets << ' ' << name(direction);
    }
  }
}

}  // namespace
}  // namespace tiersim::pcie_probe_test
