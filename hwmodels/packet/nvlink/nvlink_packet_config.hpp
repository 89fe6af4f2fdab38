#pragma once
// Model card: nvlink_packet_config
//   Models    the `packet_level` of an nvlink device and of an NVLink switch, in a header of its
//             own so that the flow level's configuration can include it.
//   Equation  none.
//   Ignores   the fields of the flow level: rate, packets, headers, latencies.
//   Valid     as nvlink_packet.
//   Source    only the number of links is published; the others are assumed, each with its reason,
//             in the YAML.
//   Checked   tests/unit/packet/nvlink_fabric_test.cpp
#include "hwmodels/packet/default_numbers.hpp"
#include "hwmodels/packet/switch_words.hpp"
#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// The `packet_level` mapping of an nvlink device.
struct NvlinkPacketConfig {
  Sourced<std::int64_t> links{18, NumberClass::specification, "NVIDIA H100: 18 links of NVLink4"};
  Sourced<Bytes> flit = not_published(Bytes::from_base(16));
  Sourced<std::int64_t> credits = not_published<std::int64_t>(1024);
  Sourced<std::int64_t> ack_every = not_published<std::int64_t>(16);
  Sourced<Duration> flight = not_published<Duration>(std::chrono::nanoseconds(10));
  Sourced<Duration> credit_return = not_published<Duration>(std::chrono::nanoseconds(100));
};

/// The `packet_level` mapping of an NVLink switch.
struct NvswitchPacketConfig {
  SwitchQueues queues = SwitchQueues::virtual_output;
  Sourced<std::int64_t> reductions = not_published<std::int64_t>(64);
  Sourced<Duration> reduce = not_published<Duration>(std::chrono::nanoseconds(50));
};

void describe(Fields& f, NvlinkPacketConfig& c);
void describe(Fields& f, NvswitchPacketConfig& c);

}  // namespace tiersim
