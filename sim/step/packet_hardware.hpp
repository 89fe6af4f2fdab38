#pragma once
// The devices of a system that are at packet level, built for one run: one instance for each group
// of GPUs that share a device, and one fabric for each group that communicates.
#include <map>
#include <memory>
#include <vector>

#include "hwmodels/packet/collective/packet_collectives.hpp"
#include "sim/step/system.hpp"

namespace tiersim {

class PacketHardware {
 public:
  /// For the first `gpus` GPUs of the system; `plans` comes from System::plan(graph). Both must
  /// outlive this.
  PacketHardware(Engine& engine, const System& system, const StepGraph& graph, const OpPlans& plans,
                 std::size_t gpus);

  /// Starts the operation's part on each of its devices now, and returns the number of these
  /// devices. `done.on_event(engine, tag)` is called once for each.
  std::size_t start(const OpPlan& plan, std::size_t gpu, EventHandler& done, std::uint64_t tag);
  /// Starts a collective of the GPU's group. Requires plan.packet_collective.
  void start_collective(const Op& op, std::size_t gpu, EventHandler& done, std::uint64_t tag);

 private:
  struct Site {  // instances of one device
    std::size_t sharers = 1;
    std::vector<std::unique_ptr<PacketDevice>> instances;  // empty: not at packet level
  };
  struct Domain {  // GPUs of a network that communicate
    std::unique_ptr<PacketFabric> fabric;
    std::map<Fabric, std::unique_ptr<PacketCollectives>> collectives;
  };
  struct Network {
    std::size_t ports = 2;        // of each domain
    std::vector<Domain> domains;  // consecutive GPUs
  };
  Network& network_of(Fabric purpose);
  void build_networks(const StepGraph& graph, const OpPlans& plans, std::size_t gpus);
  Duration elsewhere(const OpPlan& plan, DeviceId device) const;

  Engine& engine_;
  const System& system_;
  std::vector<Site> sites_;                  // by DeviceId
  std::map<std::string, Network> networks_;  // by name of the port
};

}  // namespace tiersim
