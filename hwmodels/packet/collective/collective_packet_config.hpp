#pragma once
// Model card: collective_packet_config
//   Models    the `packet_level` of a collective device: the chunks that its protocols send.
//   Equation  none.
//   Ignores   the fields of the flow level: start-ups, hops, flags, rates.
//   Valid     as collective_run.
//   Source    NCCL's documentation and source, recalled; each number in the YAML.
//   Checked   tests/unit/packet/collective_packet_test.cpp, nvlink_fabric_test.cpp
#include <array>
#include <string_view>

#include "hwmodels/packet/default_numbers.hpp"
#include "sim/base/number_class.hpp"
#include "sim/base/units.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// The signal that data have arrived: LL and LL128 send flags with the data.
enum class CollectiveProtocol : std::uint8_t { ll, ll128, simple };
inline constexpr std::array<std::string_view, 3> kCollectiveProtocolNames{"ll", "ll128", "simple"};

/// The pieces that one protocol cuts a message into.
struct CollectivePipeline {
  /// Slices of a ring's piece; each is forwarded as soon as it has arrived.
  Sourced<std::int64_t> slices = recalled_of_nccl<std::int64_t>(1);
  /// Chunks of the whole size in a chain, or of a piece in NVLS.
  Sourced<std::int64_t> parts = recalled_of_nccl<std::int64_t>(16);
  /// Smallest chunk, except for the last one.
  Sourced<Bytes> least = recalled_of_nccl(Bytes::from_base(1024));
  Sourced<Bytes> chunk = recalled_of_nccl(Bytes::from_base(524288));  ///< largest chunk
  /// Chunks that may be sent before the first is processed.
  Sourced<std::int64_t> slots = recalled_of_nccl<std::int64_t>(8);
};
void describe(Fields& f, CollectivePipeline& c);

/// The `packet_level` mapping of a collective device. With flags, lines are forwarded before their
/// chunk is complete, so that chunks of LL and LL128 are effectively shorter.
struct CollectivePacketConfig {
  CollectivePipeline ll{.chunk = recalled_of_nccl(Bytes::from_base(131072))};
  CollectivePipeline ll128{.chunk = recalled_of_nccl(Bytes::from_base(131072))};
  CollectivePipeline simple = {};

  const CollectivePipeline& of(CollectiveProtocol protocol) const;
};
void describe(Fields& f, CollectivePacketConfig& c);

}  // namespace tiersim
