#include "hwmodels/packet/cxl/cxl_packet_config.hpp"

#include "hwmodels/limits.hpp"

namespace tiersim {
namespace {

constexpr Bytes kSmallFlit = Bytes::from_base(68);

}  // namespace

Bandwidth flit_rate(const CxlPacketConfig& c, Bandwidth raw) {
  if (c.flit.value != kSmallFlit) return raw;
  return Bandwidth::from_base(static_cast<std::int64_t>(Int128{raw.in_base()} * 128 / 130));
}
std::int64_t slots_in_flit(const CxlPacketConfig& c) {
  return c.flit.value == kSmallFlit ? 4 : 15;
}

void describe(Fields& f, CxlCredits& c) {
  f.doc("Buffer that every receiver advertises, in messages.");
  f.optional("requests", c.requests, "Requests without data.", outstanding_limits());
  f.optional("writes", c.writes, "Requests with data.", outstanding_limits());
  f.optional("responses", c.responses, "Responses with data, and as many without.",
             outstanding_limits());
}

void describe(Fields& f, CxlHost& c) {
  f.doc("The host bridge and what is in front of it.");
  f.optional("outstanding", c.outstanding, "Lines it may have in flight.", outstanding_limits());
  f.optional("latency", c.latency, "Of an access outside the host's pins, both ways together.",
             latency_limits());
}

void describe(Fields& f, CxlTail& c) {
  f.doc("A share of the accesses takes an exponential time more.");
  f.required("share", c.share, "Of all accesses.", in_range(0.0, 1.0));
  f.required("mean", c.mean, "Mean of what is added.", latency_limits());
  f.optional("seed", c.seed, "Of the random stream.", in_range(0, 1'000'000'000));
}

void describe(Fields& f, CxlMemoryDevice& c) {
  f.doc("The memory device.");
  f.optional("outstanding", c.outstanding, "Lines it works on at a time.", outstanding_limits());
  f.optional("latency", c.latency, "Of its controller, both ways together.", latency_limits());
  f.optional("memory_latency", c.memory_latency, "Of the memory behind it.", latency_limits());
  f.optional("memory_rate", c.memory_rate, "Reads and writes together; absent: no limit.",
             bandwidth_limits());
  f.optional("tail", c.tail, "Absent: every access takes the same.");
}

void describe(Fields& f, CxlSwitch& c) {
  f.doc("A switch between hosts and devices.");
  f.optional("latency", c.latency, "One way.", latency_limits());
  f.optional("queues", c.queues, kSwitchQueuesNames, "How an input waits for its outputs.");
  f.optional("weights", c.weights, "Of the hosts at a device, by slots; empty: they take turns.",
             in_range(1, 1000));
  f.optional("device_raw", c.device_raw, "Of a device's link; absent: as the hosts'.",
             bandwidth_limits());
}

namespace {

void describe_details(Fields& f, CxlPacketDetails& c) {
  f.optional("flight", c.flight, "One way, of every link, with both physical layers.",
             latency_limits());
  f.optional("credits", c.credits, "Of every receiver.");
  f.optional("host", c.host, "Every host.");
  f.optional("device", c.device, "Every memory device.");
  f.optional("switch", c.pool_switch, "Absent: one device at one host.");
}

}  // namespace

void describe(Fields& f, CxlPacketDetails& c) {
  f.doc("Parameters of CXL.mem that only the packet level uses: slots, flits, credits.");
  describe_details(f, c);
}

void describe(Fields& f, CxlPacketConfig& c) {
  f.doc("CXL.mem slot by slot.");
  f.required("raw", c.raw, "Rate of one direction of a link before coding.", bandwidth_limits());
  f.optional("flit", c.flit, "Size of a flit: 68 B up to CXL 2.0, 256 B from CXL 3.0 on.",
             one_of({"68 B", "256 B"}));
  describe_details(f, c);
}

}  // namespace tiersim
