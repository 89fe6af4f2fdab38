#pragma once
// Model card: collective_packet_config
//   Models    the `packet_level` of a collective device: how its protocols cut what they send.
//   Equation  none.
//   Ignores   what the flow level's fields say already: start-ups, hops, flags, rates.
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

/// How a receiver knows what has come; LL and LL128 send flags with the data.
enum class CollectiveProtocol : std::uint8_t { ll, ll128, simple };
inline constexpr std::array<std::string_view, 3> kCollectiveProtocolNames{"ll", "ll128", "simple"};

/// How one protocol cuts what it sends.
struct CollectivePipeline {
  /// Of a ring's piece; each goes on as soon as it is there.
  Sourced<std::int64_t> slices = recalled_of_nccl<std::int64_t>(1);
  /// Chunks of the size in a chain, or of a piece in NVLS.
  Sourced<std::int64_t> parts = recalled_of_nccl<std::int64_t>(16);
  /// Of a chunk, but for the last one.
  Sourced<Bytes> least = recalled_of_nccl(Bytes::from_base(1024));
  Sourced<Bytes> chunk = recalled_of_nccl(Bytes::from_base(524288));  ///< at most
  /// Chunks that may be sent before the first is worked off.
  Sourced<std::int64_t> slots = recalled_of_nccl<std::int64_t>(8);
};
void describe(Fields& f, CollectivePipeline& c);

/// The `packet_level` mapping of a collective device. Flags let lines go on before their chunk is
/// whole, so that chunks of LL and LL128 are effectively shorter.
struct CollectivePacketConfig {
  CollectivePipeline ll{.chunk = recalled_of_nccl(Bytes::from_base(131072))};
  CollectivePipeline ll128{.chunk = recalled_of_nccl(Bytes::from_base(131072))};
  CollectivePipeline simple = {};

  const CollectivePipeline& of(CollectiveProtocol protocol) const;
};
void describe(Fields& f, CollectivePacketConfig& c);

}  // namespace tiersim
