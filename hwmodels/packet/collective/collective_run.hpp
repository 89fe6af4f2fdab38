#pragma once
// Model card: collective_run
//   Models    a schedule's transfers over packet fabrics, beside whatever else these carry.
//   Equation  the first transfers begin `start` after the run does, and another one `gap` after all
//             that it follows are there: software; the ways of the packets are the fabric's. start
//             and gap are what the flow level's constants leave when the unloaded ways are taken
//             off: start + hops * hop, at least the ways. A stream gives no more than its share of
//             the kernel's rate. A chunk's place is free again `gap` and one way after it came.
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

/// What software adds to the packets of one network.
struct CollectiveSoftware {
  Duration gap{};      ///< before each transfer, after those that it follows
  double payload = 1;  ///< share of payload in what is sent
  Bandwidth pace{};    ///< of one stream, flags included; 0: as fast as it can
};

struct CollectiveTiming {
  Duration start{};                 ///< before the first transfers
  CollectiveSoftware node = {};     ///< inside of nodes
  CollectiveSoftware network = {};  ///< between them
};

/// Of an algorithm of NCCL whose ports carry `port` bytes a second without any loss.
CollectiveTiming timing_of(const NcclConstants& constants, const CollectiveSchedule& schedule,
                           const FabricShape& fabric, Bandwidth port);
/// Of a kernel that stores to its peers.
CollectiveTiming timing_of(const DirectConfig& config, const CollectiveSchedule& schedule,
                           const FabricShape& fabric);
/// Of one over several nodes, each GPU with an adapter: the start-up is the longer one of both.
CollectiveTiming timing_of(const NcclConstants& node, const NcclConstants& network,
                           const CollectiveSchedule& schedule, const FabricShape& fabric,
                           const FabricShape& between, Bandwidth port);

/// Fabrics that a run uses: rank r is port first_port + r mod ranks_per_node of
/// nodes[r / ranks_per_node], and port r of the network.
struct CollectiveFabrics {
  std::vector<PacketFabric*> nodes;
  PacketFabric* network = nullptr;  ///< null: one node
  std::size_t first_port = 0;
};

class CollectiveRun final : public FabricListener, public EventHandler {
 public:
  /// All that is given by reference must live until the run has ended. `listener` is told then.
  CollectiveRun(Engine& engine, CollectiveFabrics fabrics, const CollectiveSchedule& schedule,
                const CollectiveTiming& timing, FabricListener* listener = nullptr,
                std::uint64_t tag = 0);

  /// Begins at this instant; once.
  void start();
  bool ended() const { return left_ == 0; }
  /// From start() to the end. Precondition: ended().
  Duration time() const;

  void on_event(Engine& engine, std::uint64_t transfer_and_one) override;
  void on_done(Engine& engine, std::uint64_t transfer) override;

 private:
  struct State {
    SimTime ready{};
    std::int64_t missing = 0;          ///< transfers that it follows
    std::vector<std::uint32_t> order;  ///< positions in schedule.order where it is the first
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
    SimTime free{};          ///< when its pace allows the next transfer
    std::uint64_t flow = 0;  ///< of its messages
  };
  std::vector<Stream> streams_;
  std::size_t left_;
  SimTime began_{};
  SimTime last_{};
};

}  // namespace tiersim
