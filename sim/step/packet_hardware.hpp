#pragma once
// The devices of a system that are at packet level, built for one run: an instance for each group
// of GPUs that share one, and a fabric for each group that works together.
#include <map>
#include <memory>
#include <vector>

#include "hwmodels/packet/collective/packet_collectives.hpp"
#include "sim/step/system.hpp"

namespace tiersim {

class PacketHardware {
 public:
  /// For `gpus` of the system; `plans` as by System::plan(graph). Both must live longer.
  PacketHardware(Engine& engine, const System& system, const StepGraph& graph,
                 const std::vector<OpPlan>& plans, std::size_t gpus);

  /// Begins what the operation asks of devices, at this instant, and how many these are:
  /// `done.on_event(engine, tag)` comes once for each.
  std::size_t start(const OpPlan& plan, std::size_t gpu, EventHandler& done, std::uint64_t tag);
  /// Begins a collective of the group that the GPU is in. Precondition: plan.packet_collective.
  void start_collective(const Op& op, std::size_t gpu, EventHandler& done, std::uint64_t tag);

 private:
  struct Site {  // of a device
    std::size_t sharers = 1;
    std::vector<std::unique_ptr<PacketDevice>> instances;  // none: at another level
  };
  struct Domain {  // GPUs of a network that work together
    std::unique_ptr<PacketFabric> fabric;
    std::map<Fabric, std::unique_ptr<PacketCollectives>> collectives;
  };
  struct Network {
    std::size_t ports = 2;        // of each domain
    std::vector<Domain> domains;  // consecutive GPUs
  };
  Network& network_of(Fabric purpose);
  void build_networks(const StepGraph& graph, const std::vector<OpPlan>& plans, std::size_t gpus);
  Duration elsewhere(const OpPlan& plan, DeviceId device) const;

  Engine& engine_;
  const System& system_;
  std::vector<Site> sites_;                  // by DeviceId
  std::map<std::string, Network> networks_;  // by name of the port
};

}  // namespace tiersim
