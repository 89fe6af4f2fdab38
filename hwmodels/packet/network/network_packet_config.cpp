#include "hwmodels/packet/network/network_packet_config.hpp"

#include "hwmodels/limits.hpp"

namespace tiersim {

void describe(Fields& f, NetworkPacketConfig& c) {
  f.doc("Parameters of an adapter and its switch that only the packet level uses.");
  f.optional("credit_unit", c.credit_unit, "Bytes that one credit stands for.",
             in_range(Bytes::from_base(1), Bytes::from_base(4096)));
  f.optional("credits", c.credits, "Credits behind each queue of a switch input; 0 is no limit.",
             in_range(std::int64_t{0}, std::int64_t{1} << 24));
  f.optional("ack_every", c.ack_every,
             "Packets of writes that one acknowledgement covers; 0 is none.",
             in_range(std::int64_t{0}, std::int64_t{65536}));
  f.optional("flight", c.flight, "Of one cable, between an adapter and the switch.",
             latency_limits());
  f.optional("cut_through", c.cut_through,
             "From a packet's first byte into the switch to its first byte out; a part of the "
             "latency.",
             latency_limits());
  f.optional("credit_return", c.credit_return,
             "From the last byte out of a buffer to its credits at the sender.", latency_limits());
  f.optional("queues", c.queues, kSwitchQueuesNames, "Of a switch input.");
}

}  // namespace tiersim
