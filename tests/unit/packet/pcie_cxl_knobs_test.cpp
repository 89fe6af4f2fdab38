// Every parameter of the packet-level links changes a result, on a workload that uses all of them.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hwmodels/packet/cxl/cxl_probe.hpp"
#include "hwmodels/packet/pcie/pcie_probe.hpp"

namespace tiersim::pcie_cxl_knobs_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

template <class Config>
struct Knob {
  std::string name;
  std::function<void(Config&)> turn;
};

Sourced<std::int64_t> count(std::int64_t n) {
  return {.value = n};
}

PciePacketConfig busy_pcie() {
  PciePacketConfig c;
  c.raw.value = 8_GBps;
  c.flight.value = 20ns;
  c.credits = {count(4), count(80), count(3), count(4), count(48)};
  c.requester = {.tags = count(8),
                 .latency = {.value = 50ns},
                 .read_interval = {.value = 300ns},
                 .write_interval = {.value = 300ns},
                 .internal_rate = Sourced<Bandwidth>{.value = 10_GBps}};
  c.host = {.read_latency = {.value = 300ns},
            .write_latency = {.value = 40ns},
            .memory_rate = Sourced<Bandwidth>{.value = 12_GBps}};
  c.fabric_switch = PcieSwitch{};
  c.fabric_switch->latency.value = 100ns;
  c.fabric_switch->upstream_raw = {.value = 10_GBps};
  return c;
}

TEST(PcieKnobs, EachMovesSomething) {
  using C = PciePacketConfig;
  const std::vector<Knob<C>> knobs = {
      {"raw", [](C& c) { c.raw.value = 9_GBps; }},
      {"max_payload", [](C& c) { c.max_payload.value = 128_B; }},
      {"max_read_request", [](C& c) { c.max_read_request.value = 256_B; }},
      {"completion_boundary", [](C& c) { c.completion_boundary = {.value = 64_B}; }},
      {"request_header", [](C& c) { c.request_header.value = 20_B; }},
      {"completion_header", [](C& c) { c.completion_header.value = 16_B; }},
      {"flight", [](C& c) { c.flight.value = 24ns; }},
      {"relaxed_ordering", [](C& c) { c.relaxed_ordering = true; }},
      {"link_packets", [](C& c) { c.framing.link_packets = LinkPackets::answering; }},
      {"link_packet", [](C& c) { c.framing.link_packet.value = 12_B; }},
      {"lanes", [](C& c) { c.framing.lanes.value = 8; }},
      {"internal_delay", [](C& c) { c.framing.internal_delay.value = 70; }},
      {"ack_every", [](C& c) { c.framing.ack_every = {.value = 200_B}; }},
      {"update_every", [](C& c) { c.framing.update_every = {.value = 200_B}; }},
      {"skip", [](C& c) { c.framing.skip.value = 8_B; }},
      {"skip_every", [](C& c) { c.framing.skip_every.value = 1180_B; }},
      {"flits", [](C& c) { c.flits = PcieFlits{}; }},
      {"posted_headers", [](C& c) { c.credits.posted_headers = {.value = 3}; }},
      {"posted_data", [](C& c) { c.credits.posted_data = {.value = 32}; }},
      {"read_headers", [](C& c) { c.credits.read_headers = {.value = 1}; }},
      {"completion_headers", [](C& c) { c.credits.completion_headers = {.value = 1}; }},
      {"completion_data", [](C& c) { c.credits.completion_data = {.value = 16}; }},
      {"tags", [](C& c) { c.requester.tags.value = 4; }},
      {"latency", [](C& c) { c.requester.latency.value = 60ns; }},
      {"read_interval", [](C& c) { c.requester.read_interval.value = 2us; }},
      {"write_interval", [](C& c) { c.requester.write_interval.value = 2us; }},
      {"internal_rate", [](C& c) { c.requester.internal_rate = {.value = 12_GBps}; }},
      {"read_latency", [](C& c) { c.host.read_latency.value = 360ns; }},
      {"write_latency", [](C& c) { c.host.write_latency.value = 48ns; }},
      {"memory_rate", [](C& c) { c.host.memory_rate = {.value = 10_GBps}; }},
      {"switch.latency", [](C& c) { c.fabric_switch->latency.value = 120ns; }},
      {"forwarding",
       [](C& c) { c.fabric_switch->forwarding = SwitchForwarding::store_and_forward; }},
      {"queues", [](C& c) { c.fabric_switch->queues = SwitchQueues::fifo; }},
      {"upstream_raw", [](C& c) { c.fabric_switch->upstream_raw = {.value = 12_GBps}; }},
      {"weights",
       [](C& c) {
         c.fabric_switch->weights = {1, 3};
       }},
  };
  const PcieProbe probe{.size = 3000_B,
                        .read_share = 0.5,
                        .addresses = PcieProbe::Addresses::random,
                        .outstanding = 8,
                        .transfers = 150,
                        .devices = 2};
  const PcieProbeResult before = run_pcie_probe(busy_pcie(), probe);
  for (const auto& knob : knobs) {
    PciePacketConfig c = busy_pcie();
    knob.turn(c);
    EXPECT_NE(run_pcie_probe(c, probe).stays, before.stays) << knob.name;
  }
}

CxlPacketConfig busy_pool() {
  CxlPacketConfig c;
  c.raw.value = 32_GBps;
  c.flight.value = 15ns;
  c.credits = {count(12), count(6), count(24)};
  c.host = {.outstanding = count(64), .latency = {.value = 50ns}};
  c.device.outstanding = count(12);
  c.device.latency.value = 20ns;
  c.device.memory_latency.value = 50ns;
  c.device.memory_rate = {.value = 40_GBps};
  c.device.tail = CxlTail{{.value = 0.01}, {.value = 200ns}, 1};
  c.pool_switch = CxlSwitch{};
  c.pool_switch->latency.value = 45ns;
  return c;
}

TEST(CxlKnobs, EachMovesSomething) {
  using C = CxlPacketConfig;
  const std::vector<Knob<C>> knobs = {
      {"raw", [](C& c) { c.raw.value = 38_GBps; }},
      {"flit", [](C& c) { c.flit.value = 256_B; }},
      {"flight", [](C& c) { c.flight.value = 18ns; }},
      {"requests", [](C& c) { c.credits.requests.value = 8; }},
      {"writes", [](C& c) { c.credits.writes.value = 4; }},
      {"responses", [](C& c) { c.credits.responses.value = 8; }},
      {"host.outstanding", [](C& c) { c.host.outstanding.value = 48; }},
      {"host.latency", [](C& c) { c.host.latency.value = 60ns; }},
      {"device.outstanding", [](C& c) { c.device.outstanding.value = 10; }},
      {"device.latency", [](C& c) { c.device.latency.value = 24ns; }},
      {"memory_latency", [](C& c) { c.device.memory_latency.value = 60ns; }},
      {"memory_rate", [](C& c) { c.device.memory_rate = {.value = 32_GBps}; }},
      {"tail.share", [](C& c) { c.device.tail->share.value = 0.02; }},
      {"tail.mean", [](C& c) { c.device.tail->mean.value = 240ns; }},
      {"tail.seed", [](C& c) { c.device.tail->seed = 2; }},
      {"switch.latency", [](C& c) { c.pool_switch->latency.value = 54ns; }},
      {"queues", [](C& c) { c.pool_switch->queues = SwitchQueues::fifo; }},
      {"weights",
       [](C& c) {
         c.pool_switch->weights = {1, 3};
       }},
      {"device_raw", [](C& c) { c.pool_switch->device_raw = {.value = 16_GBps}; }},
  };
  CxlProbe probe;
  probe.read_share = 0.5;
  probe.outstanding = 64;
  probe.accesses = 1500;
  probe.hosts = 2;
  probe.devices = 2;
  const CxlProbeResult before = run_cxl_probe(busy_pool(), probe);
  for (const auto& knob : knobs) {
    CxlPacketConfig c = busy_pool();
    knob.turn(c);
    EXPECT_NE(run_cxl_probe(c, probe).stays, before.stays) << knob.name;
  }
}

}  // namespace
}  // namespace tiersim::pcie_cxl_knobs_test
