#pragma once
// Model card: network_packet_config
//   Models    the `packet_level` of a network adapter and the switch that joins all of them, in a
//             header of its own so that the flow level's configuration can include it.
//   Equation  none.
//   Ignores   the fields of the flow level: rate, packets, headers, messages a second, latency.
//   Valid     as network_packet.
//   Source    credits count blocks of 64 B (InfiniBand architecture specification, volume 1, flow
//             control); sizes of buffers are assumed, with their reasons, in the YAML.
//   Checked   tests/unit/packet/network_packet_test.cpp
#include "hwmodels/packet/default_numbers.hpp"
#include "hwmodels/packet/switch_words.hpp"
#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// The `packet_level` mapping of a network device.
struct NetworkPacketConfig {
  Sourced<Bytes> credit_unit{Bytes::from_base(64), NumberClass::specification,
                             "InfiniBand: flow control counts blocks of 64 B"};
  Sourced<std::int64_t> credits = not_published<std::int64_t>(2048);
  Sourced<std::int64_t> ack_every = not_published<std::int64_t>(16);
  Sourced<Duration> flight = not_published<Duration>(std::chrono::nanoseconds(25));
  Sourced<Duration> cut_through = not_published<Duration>(std::chrono::nanoseconds(200));
  Sourced<Duration> credit_return = not_published<Duration>(std::chrono::nanoseconds(100));
  SwitchQueues queues = SwitchQueues::virtual_output;
};

void describe(Fields& f, NetworkPacketConfig& c);

}  // namespace tiersim
