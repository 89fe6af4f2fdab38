#include "hwmodels/packet/pcie/pcie_packet_config.hpp"

#include <bit>

#include "hwmodels/limits.hpp"

namespace tiersim {
namespace {

using namespace literals;

void check_power_of_two(Fields& f, std::string_view key, Bytes size) {
  f.check(std::has_single_bit(static_cast<std::uint64_t>(size.in_base())), key,
          "is no power of two", "128 B to 4096 B in the PCI Express base specification");
}
void check_data_credits(Fields& f, const std::string& key,
                        const std::optional<Sourced<std::int64_t>>& credits, Bytes packet) {
  f.check(!credits || credits->value >= (packet.in_base() + 15) / 16, key,
          "hold less than one packet of the largest size", "credits are of 16 B");
}

}  // namespace

Bytes completion_boundary(const PciePacketConfig& c) {
  return c.completion_boundary ? c.completion_boundary->value : c.max_payload.value;
}

// These factors, in tenths, and this formula give tables 3-7 to 3-9 of revision 5.0.
std::int64_t link_packet_limit(const PcieFraming& framing, Bytes max_payload) {
  const std::int64_t lanes = framing.lanes.value;
  const bool large = max_payload.in_base() >= 512;
  std::int64_t tenths = large ? 10 : 14;
  if (lanes == 8) tenths = large ? 10 : 25;
  if (lanes > 8) tenths = large ? 20 : 30;
  return (max_payload.in_base() + 28) * tenths / (10 * lanes) + framing.internal_delay.value;
}

namespace {

Bytes interval(const PciePacketConfig& c, const std::optional<Sourced<Bytes>>& given) {
  if (given) return given->value;
  const PcieFraming& f = c.framing;
  const std::int64_t limit = link_packet_limit(f, c.max_payload.value);
  return Bytes::from_base(f.link_packets == LinkPackets::paced ? limit : limit * f.lanes.value);
}

}  // namespace

Bytes bytes_between_acks(const PciePacketConfig& c) {
  return interval(c, c.framing.ack_every);
}
Bytes bytes_between_updates(const PciePacketConfig& c) {
  return interval(c, c.framing.update_every);
}

void describe(Fields& f, PcieFraming& c) {
  f.doc("Traffic on the wire beside transaction packets, Gen1 to Gen5.");
  f.optional("link_packets", c.link_packets, kLinkPacketsNames,
             "When acknowledgements and credit updates are sent: at a pace, or for what came.");
  f.optional("link_packet", c.link_packet, "An acknowledgement or credit update.", header_limits());
  f.optional("lanes", c.lanes, "Of the link.", one_of({1, 2, 4, 8, 16}));
  f.optional("internal_delay", c.internal_delay,
             "Delay inside the receiver that the limit allows for, in symbol times.",
             in_range(0, 10'000));
  f.optional("ack_every", c.ack_every, "Bytes between two acknowledgements; absent: by the limit.",
             packet_limits());
  f.optional("update_every", c.update_every,
             "Bytes, as time on the wire, between two credit updates; absent: by the limit.",
             packet_limits());
  f.optional("skip", c.skip, "A SKIP ordered set, over all lanes.", header_limits());
  f.optional("skip_every", c.skip_every, "Bytes between two SKIP ordered sets.", packet_limits());
  f.check(c.skip.value < c.skip_every.value, "skip", "is no less than its interval");
}

void describe(Fields& f, PcieFlits& c) {
  f.doc("Flit mode, from Gen6 on.");
  f.optional("flit", c.flit, "A flit.", packet_limits());
  f.optional("packets", c.packets, "The part of a flit that carries transaction packets.",
             packet_limits());
  f.check(c.packets.value <= c.flit.value, "packets", "is more than a flit");
}

void describe(Fields& f, PcieCredits& c) {
  f.doc("Buffer that every receiver advertises. What is absent has no limit.");
  f.optional("posted_headers", c.posted_headers, "Posted writes.", outstanding_limits());
  f.optional("posted_data", c.posted_data, "Their data, units of 16 B.", outstanding_limits());
  f.optional("read_headers", c.read_headers, "Read requests.", outstanding_limits());
  f.optional("completion_headers", c.completion_headers, "Completions.", outstanding_limits());
  f.optional("completion_data", c.completion_data, "Their data, units of 16 B.",
             outstanding_limits());
}

void describe(Fields& f, PcieRequester& c) {
  f.doc("The device that reads and writes.");
  f.optional("tags", c.tags, "Read requests it may have in flight.", outstanding_limits());
  f.optional("latency", c.latency, "Added to every transfer.", latency_limits());
  f.optional("read_interval", c.read_interval, "Least time between the starts of two reads.",
             latency_limits());
  f.optional("write_interval", c.write_interval, "Least time between the starts of two writes.",
             latency_limits());
  f.optional("internal_rate", c.internal_rate,
             "Rate at which data that were read cross the device once more.", bandwidth_limits());
}

void describe(Fields& f, PcieHost& c) {
  f.doc("Root complex and the memory behind it.");
  f.optional("read_latency", c.read_latency, "From a request to its data.", latency_limits());
  f.optional("write_latency", c.write_latency, "Until a posted write is taken.", latency_limits());
  f.optional("memory_rate", c.memory_rate, "Reads and writes together; absent: no limit.",
             bandwidth_limits());
}

void describe(Fields& f, PcieSwitch& c) {
  f.doc("A switch between the devices and the root complex.");
  f.optional("latency", c.latency, "One way.", latency_limits());
  f.optional("forwarding", c.forwarding, kSwitchForwardingNames,
             "True: a packet leaves before it has arrived whole (cut-through).");
  f.optional("queues", c.queues, kSwitchQueuesNames, "How an input waits for its outputs.");
  f.optional("upstream_raw", c.upstream_raw, "Of the link to the root; absent: as the others.",
             bandwidth_limits());
  f.optional("weights", c.weights, "Of the device ports, by bytes; empty: they take turns.",
             in_range(1, 1000));
}

namespace {

// Fields may hold any value here, also a refused one.
bool leaves_room(const PciePacketConfig& c) {
  const PcieFraming& f = c.framing;
  const bool plausible = f.lanes.value > 0 && f.lanes.value <= 16 && f.internal_delay.value >= 0 &&
                         f.internal_delay.value <= 10'000 && c.max_payload.value <= 4096_B;
  if (!plausible) return true;
  const Bytes link_packet = f.link_packet.value;
  return link_packet / bytes_between_acks(c) + link_packet / bytes_between_updates(c) +
             f.skip.value / f.skip_every.value <
         0.99;
}

void describe_details(Fields& f, PciePacketDetails& c) {
  f.optional("flight", c.flight, "One way, of every link.", latency_limits());
  f.optional("relaxed_ordering", c.relaxed_ordering,
             "Reads and completions may pass posted writes.");
  f.optional("framing", c.framing, "Not used where there are flits.");
  f.optional("flits", c.flits, "Absent: framing, as before Gen6.");
  f.optional("credits", c.credits, "Of every receiver.");
  f.optional("requester", c.requester, "Every device.");
  f.optional("host", c.host, "Root complex and memory.");
  f.optional("switch", c.fabric_switch, "Absent: one device at the root complex.");
}

}  // namespace

void describe(Fields& f, PciePacketDetails& c) {
  f.doc(
      "Parameters of PCI Express that only the packet level uses: packets, credits, "
      "acknowledgements.");
  describe_details(f, c);
}

void describe(Fields& f, PciePacketConfig& c) {
  f.doc("PCI Express packet by packet.");
  f.required("raw", c.raw, "Rate of one direction after line coding.", bandwidth_limits());
  f.optional("max_payload", c.max_payload, "Largest payload of one packet (MPS), a power of two.",
             in_range(128_B, 4096_B));
  f.optional("max_read_request", c.max_read_request, "Largest read request (MRRS), a power of two.",
             in_range(128_B, 4096_B));
  f.optional("completion_boundary", c.completion_boundary,
             "Completions end at its multiples: the RCB of 64 or 128 B, or more.",
             in_range(64_B, 4096_B));
  f.optional("request_header", c.request_header, "Header of a read request or posted write.",
             header_limits());
  f.optional("completion_header", c.completion_header, "Header of a completion with data.",
             header_limits());
  describe_details(f, c);
  check_packets_fit(f, c, "");
  check_power_of_two(f, "max_payload", c.max_payload.value);
  check_power_of_two(f, "max_read_request", c.max_read_request.value);
  check_power_of_two(f, "completion_boundary", completion_boundary(c));
  f.check(completion_boundary(c) <= c.max_payload.value, "completion_boundary",
          "is above max_payload");
}

void check_packets_fit(Fields& f, const PciePacketConfig& c, const std::string& at) {
  f.check(leaves_room(c), at + "framing", "leaves no room for transaction packets",
          "longer intervals of link packets");
  check_data_credits(f, at + "credits.posted_data", c.credits.posted_data, c.max_payload.value);
  check_data_credits(f, at + "credits.completion_data", c.credits.completion_data,
                     completion_boundary(c));
}

}  // namespace tiersim
