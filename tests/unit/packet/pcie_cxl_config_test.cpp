#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hwmodels/packet/cxl/from_flow.hpp"
#include "hwmodels/packet/pcie/from_flow.hpp"
#include "sim/config/describe.hpp"

namespace tiersim::pcie_cxl_config_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using ::testing::HasSubstr;

template <class Config>
struct Parsed {
  Config config;
  std::string mistakes;
};
template <class Config>
Parsed<Config> parse(const std::string& text) {
  Diagnostics diagnostics;
  const Document document =
      load_text("schema: tiersim.packet/v1\n" + text, "packet.yaml", {}, diagnostics);
  auto config = read<Config>(document, "packet", diagnostics);
  return {std::move(config), diagnostics.text()};
}

// Tables 3-7 to 3-9 of PCI Express 5.0 at 8 GT/s and above, symbol times.
TEST(PciePacketConfig, TheLimitOfLinkPacketsIsTheSpecifications) {
  struct Entry {
    std::int64_t lanes, max_payload, limit;
  };
  for (const Entry& e :
       {Entry{1, 128, 333}, Entry{2, 256, 313}, Entry{4, 128, 169}, Entry{4, 512, 250},
        Entry{8, 128, 163}, Entry{8, 256, 203}, Entry{8, 512, 182}, Entry{16, 128, 144},
        Entry{16, 256, 168}, Entry{16, 512, 182}, Entry{16, 4096, 630}}) {
    PcieFraming framing;
    framing.lanes.value = e.lanes;
    EXPECT_EQ(link_packet_limit(framing, Bytes::from_base(e.max_payload)), e.limit)
        << e.lanes << ' ' << e.max_payload;
  }
}

TEST(PciePacketConfig, AnsweringCountsTheSymbolsOfAllLanes) {
  PciePacketConfig c;
  EXPECT_EQ(bytes_between_acks(c), 168_B);
  c.framing.link_packets = LinkPackets::answering;
  EXPECT_EQ(bytes_between_acks(c), 168 * 16_B);
  c.framing.ack_every = {.value = 1000_B};
  EXPECT_EQ(bytes_between_acks(c), 1000_B);
  EXPECT_EQ(bytes_between_updates(c), 168 * 16_B);
}

TEST(PciePacketConfig, IsReadFromText) {
  const auto parsed = parse<PciePacketConfig>(
      "raw: 63.015 GB/s\nmax_payload: 512 B\nflight: 10 ns\n"
      "framing: {link_packets: answering, lanes: 8}\ncredits: {posted_data: 512}\n"
      "requester: {tags: 768, internal_rate: 7 GB/s}\nhost: {read_latency: 1 us}\n"
      "switch: {latency: 100 ns, forwarding: store_and_forward, weights: [1, 2]}\n");
  EXPECT_EQ(parsed.mistakes, "");
  const PciePacketConfig& c = parsed.config;
  EXPECT_EQ(c.max_payload.value, 512_B);
  EXPECT_EQ(c.framing.link_packets, LinkPackets::answering);
  EXPECT_EQ(c.credits.posted_data->value, 512);
  EXPECT_EQ(c.requester.internal_rate->value, 7_GBps);
  EXPECT_EQ(c.fabric_switch->forwarding, SwitchForwarding::store_and_forward);
  EXPECT_EQ(c.fabric_switch->weights.size(), 2U);
}

TEST(PciePacketConfig, SaysWhatIsWrongWithIt) {
  const auto mistakes = [](const std::string& text) {
    return parse<PciePacketConfig>("raw: 63 GB/s\n" + text).mistakes;
  };
  EXPECT_THAT(mistakes("max_payload: 300 B\n"), HasSubstr("is no power of two"));
  EXPECT_THAT(mistakes("completion_boundary: 512 B\n"), HasSubstr("is above max_payload"));
  EXPECT_THAT(mistakes("credits: {posted_data: 15}\n"),
              HasSubstr("hold less than one packet of the largest size"));
  EXPECT_THAT(mistakes("framing: {ack_every: 8 B}\n"),
              HasSubstr("leaves no room for transaction packets"));
  EXPECT_THAT(mistakes("framing: {lanes: 0}\n"), HasSubstr("1, 2, 4, 8"));
  EXPECT_THAT(mistakes("flits: {packets: 300 B}\n"), HasSubstr("is more than a flit"));
  EXPECT_THAT(mistakes("switch: {queues: one}\n"), HasSubstr("virtual_output"));
}

TEST(PciePacketDetails, LieBesideTheFlowLevel) {
  const auto details = parse<PciePacketDetails>("flight: 10 ns\n");
  EXPECT_EQ(details.mistakes, "");
  PcieConfig flow;
  flow.raw.value = 8_GBps;
  flow.max_payload.value = 128_B;
  flow.max_read_request.value = 256_B;
  flow.max_completion = {.value = 64_B};
  const PciePacketConfig c = with_flow(details.config, flow);
  EXPECT_EQ(c.flight.value, 10ns);
  EXPECT_EQ(c.raw.value, 8_GBps);
  EXPECT_EQ(c.max_read_request.value, 256_B);
  EXPECT_EQ(completion_boundary(c), 64_B);
  EXPECT_EQ(c.request_header.value, 24_B);
}

TEST(CxlPacketConfig, IsReadFromText) {
  const auto parsed = parse<CxlPacketConfig>(
      "raw: 64 GB/s\nflit: 256 B\nflight: 15 ns\ncredits: {requests: 32}\n"
      "host: {outstanding: 64, latency: 97 ns}\n"
      "device: {latency: 20 ns, tail: {share: 0.01, mean: 1 us, seed: 3}}\n"
      "switch: {latency: 45 ns, queues: fifo, weights: [1, 3]}\n");
  EXPECT_EQ(parsed.mistakes, "");
  EXPECT_EQ(slots_in_flit(parsed.config), 15);
  EXPECT_EQ(flit_rate(parsed.config, 64_GBps), 64_GBps);
  EXPECT_EQ(parsed.config.device.tail->seed, 3);
  EXPECT_EQ(parsed.config.pool_switch->queues, SwitchQueues::fifo);
  EXPECT_THAT(parse<CxlPacketConfig>("raw: 64 GB/s\nflit: 128 B\n").mistakes, HasSubstr("68 B"));
  EXPECT_THAT(
      parse<CxlPacketConfig>("raw: 1 GB/s\ndevice: {tail: {share: 2, mean: 1 ns}}\n").mistakes,
      HasSubstr("share"));
}

TEST(CxlPacketDetails, LieBesideTheFlowLevel) {
  CxlConfig flow;
  flow.raw.value = 64_GBps;
  flow.flit.value = 256_B;
  const CxlPacketConfig c =
      with_flow(parse<CxlPacketDetails>("device: {outstanding: 9}\n").config, flow);
  EXPECT_EQ(c.raw.value, 64_GBps);
  EXPECT_EQ(c.flit.value, 256_B);
  EXPECT_EQ(c.device.outstanding.value, 9);
}

}  // namespace
}  // namespace tiersim::pcie_cxl_config_test
