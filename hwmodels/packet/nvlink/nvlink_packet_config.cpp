#include "hwmodels/packet/nvlink/nvlink_packet_config.hpp"

#include "hwmodels/limits.hpp"

namespace tiersim {

void describe(Fields& f, NvlinkPacketConfig& c) {
  f.doc("Parameters of an NVLink port that only the packet level uses.");
  f.optional("links", c.links, "Links of one GPU, over which addresses are striped.",
             in_range(std::int64_t{1}, std::int64_t{256}));
  f.optional("flit", c.flit, "Bytes that one credit stands for.",
             in_range(Bytes::from_base(1), Bytes::from_base(4096)));
  f.optional("credits", c.credits, "Flits behind each queue of a switch input; 0 is no limit.",
             in_range(std::int64_t{0}, std::int64_t{1} << 24));
  f.optional("ack_every", c.ack_every, "Writes that one acknowledgement covers; 0 is none.",
             in_range(std::int64_t{0}, std::int64_t{65536}));
  f.optional("flight", c.flight, "Of one wire, between a GPU and the switch.", latency_limits());
  f.optional("credit_return", c.credit_return,
             "From the last byte out of a buffer to its credits at the sender.", latency_limits());
}

void describe(Fields& f, NvswitchPacketConfig& c) {
  f.doc("Parameters of an NVLink switch that only the packet level uses.");
  f.optional("queues", c.queues, kSwitchQueuesNames, "Of an input.");
  f.optional("reductions", c.reductions, "Sums that one link may wait for; 0 is no limit.",
             in_range(std::int64_t{0}, std::int64_t{1} << 20));
  f.optional("reduce", c.reduce, "Time of a reduction inside the switch.", latency_limits());
}

}  // namespace tiersim
