#pragma once
// Model card: collective_schedule
//   Models    a collective as transfers between ranks, each of a range of bytes, and which of them
//             follow which: rings, chains (NCCL's tree inside a node), one shot, two shots, sums
//             and copies by the switch (NVLS), and rings within nodes around rings between them.
//   Equation  n ranks cut the size into pieces of ceil(size / n); what a rank sends are pieces:
//             ring 2 (n - 1) for an all-reduce, half for its halves; chain: all of it up, and down
//             again, in chunks; one shot n - 1 times all, two shots 2 (n - 1) pieces; NVLS one sum
//             and one copy of its piece, for which every port gives all and gets all.
//   Ignores   data: what the bytes are. A test moves symbols instead.
//   Valid     2 ranks and more.
//   Source    rings: Patarasuk and Yuan, J. Parallel Distrib. Comput. 69(2), 2009; chains and NVLS:
//             NCCL's documentation and source, as hwmodels/collective/nccl.hpp.
//   Checked   tests/unit/packet/collective_packet_schedule_test.cpp
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hwmodels/packet/collective/collective_packet_config.hpp"
#include "sim/base/units.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

enum class PacketAlgorithm : std::uint8_t {
  automatic,  ///< what the flow level takes for that size
  ring,
  tree,
  one_shot,
  two_shot,
  nvls,
  hierarchical,
};
inline constexpr std::array<std::string_view, 7> kPacketAlgorithmNames{
    "auto", "ring", "tree", "one_shot", "two_shot", "nvls", "hierarchical"};
constexpr std::string_view name(PacketAlgorithm a) {
  return kPacketAlgorithmNames[static_cast<std::size_t>(a)];
}

struct CollectiveTransfer {
  enum class Kind : std::uint8_t {
    store,   ///< the receiver keeps it
    add,     ///< the receiver adds it to what it has
    sum,     ///< src gets the sum of what all ranks had
    to_all,  ///< all ranks keep what src has
  };
  Kind kind = Kind::store;
  std::size_t src = 0;
  std::size_t dst = 0;    ///< not used by sum and to_all
  Bytes from{};           ///< offset at src
  Bytes to{};             ///< offset at the receiver
  Bytes bytes{};          ///< above 0
  bool of_input = false;  ///< sends what src had at first, not what it has by now
  bool between_nodes = false;
  std::size_t stream = 0;  ///< transfers of one stream of a rank share its pace
};

struct CollectiveSchedule {
  struct Order {
    std::uint32_t first = 0;
    std::uint32_t then = 0;
    bool release = false;  ///< `then` needs the place of `first` in the buffer, not its data
  };
  std::size_t ranks = 0;
  std::size_t ranks_per_node = 0;
  std::vector<CollectiveTransfer> transfers;
  std::vector<Order> order;
  std::int64_t hops = 0;          ///< that follow each other, inside of a node
  std::int64_t network_hops = 0;  ///< between nodes
  std::int64_t wires = 0;         ///< ways over the node's fabric that follow each other
  std::int64_t streams = 1;       ///< that share what one rank sends a second
  std::size_t stream_count = 0;
};

/// Whether the algorithm can do this collective.
bool serves(PacketAlgorithm algorithm, CollectiveKind kind);

/// `ranks` >= 2, a multiple of `nodes`; size > 0; serves(algorithm, kind); algorithm not automatic.
/// Only hierarchical has more than one node.
CollectiveSchedule make_schedule(PacketAlgorithm algorithm, CollectiveKind kind, std::size_t ranks,
                                 Bytes size, const CollectivePipeline& pipeline,
                                 std::size_t nodes = 1);

}  // namespace tiersim
