#pragma once
// Model card: collective_schedule
//   Models    a collective as transfers of byte ranges between ranks, and their order: rings,
//             chains (NCCL's tree inside a node), one shot, two shots, sums and copies by the
//             switch (NVLS), and rings within nodes around rings between them.
//   Equation  n ranks cut the size into pieces of ceil(size / n). A rank sends, in pieces: ring
//             2 (n - 1) for an all-reduce, half for its halves; chain: the whole size up, and
//             down again, in chunks; one shot the whole size n - 1 times, two shots 2 (n - 1);
//             NVLS one sum and one copy of its piece, for which every port sends and receives
//             the whole size.
//   Ignores   the contents of the bytes. A test moves symbols instead.
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
  automatic,  ///< the flow level's choice for this size
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
    store,   ///< the receiver stores the data
    add,     ///< the receiver adds the data to its own
    sum,     ///< src receives the sum over all ranks
    to_all,  ///< all ranks store the data of src
  };
  Kind kind = Kind::store;
  std::size_t src = 0;
  std::size_t dst = 0;    ///< not used by sum and to_all
  Bytes from{};           ///< offset at src
  Bytes to{};             ///< offset at the receiver
  Bytes bytes{};          ///< above 0
  bool of_input = false;  ///< sends the input of src, not its present data
  bool between_nodes = false;
  std::size_t stream = 0;  ///< transfers of one stream share the pace of their rank
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
  std::int64_t hops = 0;          ///< consecutive hops within a node
  std::int64_t network_hops = 0;  ///< consecutive hops between nodes
  std::int64_t wires = 0;         ///< consecutive ways over the node's fabric
  std::int64_t streams = 1;       ///< streams that share the sending rate of a rank
  std::size_t stream_count = 0;
};

/// True where the algorithm supports this collective.
bool serves(PacketAlgorithm algorithm, CollectiveKind kind);

/// Preconditions: `ranks` >= 2, a multiple of `nodes`; size > 0; serves(algorithm, kind); algorithm
/// not automatic. Only hierarchical may have more than one node.
CollectiveSchedule make_schedule(PacketAlgorithm algorithm, CollectiveKind kind, std::size_t ranks,
                                 Bytes size, const CollectivePipeline& pipeline,
                                 std::size_t nodes = 1);

}  // namespace tiersim
