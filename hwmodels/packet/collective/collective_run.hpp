#pragma once
// Model card: collective_run
//   Models    a schedule's transfers over packet fabrics, beside any other traffic of these.
//   Equation  the first transfers begin `start` after the run does, and each later one `gap` after
//             all its predecessors have arrived: software. The fabric gives the ways of packets.
//             start and gap are the flow level's constants less the unloaded ways: start +
//             hops * hop, at least the ways. A stream sends no more than its share of the
//             kernel's rate. A chunk's place is free again `gap` and one way after it came.
//   Ignores   waiting for the slowest rank's kernel; the additions; SMs and memory.
//   Valid     as the schedule and the fabric.
//   Source    constants: hwmodels/collective/nccl.hpp and direct.hpp, and the YAML of them.
//   Checked   tests/unit/packet/collective_packet_test.cpp
#include <memory>
#include <vector>

#include "hwmodels/collective/direct.hpp"
#include "hwmodels/collective/nccl.hpp"
#include "hwmodels/packet/collective/collective_schedule.hpp"
#include "hwmodels/packet/nvlink/fabric.hpp"

namespace tiersim {

/// Software overhead beside the packets of one network.
struct CollectiveSoftware {
  Duration gap{};      ///< before each transfer, after its predecessors
  double payload = 1;  ///< share of payload in the bytes sent
  Bandwidth pace{};    ///< of one stream, flags included; 0: unlimited
};

struct CollectiveTiming {
  Duration start{};                 ///< before the first transfers
  CollectiveSoftware node = {};     ///< within nodes
  CollectiveSoftware network = {};  ///< between nodes
};

/// Timing of an NCCL algorithm whose ports carry `port` bytes a second without any loss.
CollectiveTiming timing_of(const NcclConstants& constants, const CollectiveSchedule& schedule,
                           const FabricShape& fabric, Bandwidth port);
/// Timing of a kernel that stores to its peers.
CollectiveTiming timing_of(const DirectConfig& config, const CollectiveSchedule& schedule,
                           const FabricShape& fabric);
/// Timing of an algorithm over several nodes, with an adapter for each GPU. The start-up is the
/// longer of the two.
CollectiveTiming timing_of(const NcclConstants& node, const NcclConstants& network,
                           const CollectiveSchedule& schedule, const FabricShape& fabric,
                           const FabricShape& between, Bandwidth port);

/// Fabrics of a run: rank r is port first_port + r mod ranks_per_node of nodes[r / ranks_per_node],
/// and port r of the network.
struct CollectiveFabrics {
  std::vector<PacketFabric*> nodes;
  PacketFabric* network = nullptr;  ///< null: one node
  std::size_t first_port = 0;
};

class CollectiveRun final : public FabricListener, public EventHandler {
 public:
  /// Everything given by reference must outlive the run; `listener` is called at its end.
  CollectiveRun(Engine& engine, CollectiveFabrics fabrics, const CollectiveSchedule& schedule,
                const CollectiveTiming& timing, FabricListener* listener = nullptr,
                std::uint64_t tag = 0);

  /// Begins the run now; to be called once.
  void start();
  bool ended() const { return left_ == 0; }
  /// Duration of the run. Precondition: ended().
  Duration time() const;

  void on_event(Engine& engine, std::uint64_t transfer_and_one) override;
  void on_done(Engine& engine, std::uint64_t transfer) override;

 private:
  struct State {
    SimTime ready{};
    std::int64_t missing = 0;  ///< predecessors that have not arrived
    /// Positions in schedule.order where this transfer is the first.
    std::vector<std::uint32_t> order;
  };
  void make_ready(std::size_t transfer, SimTime when);
  void post(std::size_t transfer);
  const CollectiveSoftware& software_of(const CollectiveTransfer& t) const {
    return t.between_nodes ? timing_.network : timing_.node;
  }

  Engine& engine_;
  CollectiveFabrics fabrics_;
  const CollectiveSchedule& schedule_;
  CollectiveTiming timing_;
  FabricListener* listener_;
  std::uint64_t tag_;
  std::vector<State> states_;
  struct Stream {
    SimTime free{};          ///< next instant at which its pace allows a transfer
    std::uint64_t flow = 0;  ///< flow of its messages
  };
  std::vector<Stream> streams_;
  std::size_t left_;
  SimTime began_{};
  SimTime last_{};
};

}  // namespace tiersim
