#pragma once
// Model card: packet_collectives
//   Models    collectives that GPUs of one NVLink domain begin when they like, over the one fabric
//             that joins them: those under way at a time share its links.
//   Equation  as collective_run; the algorithm is the one that the flow level takes for that size.
//   Ignores   as collective_run; copies between GPUs outside of collectives.
//   Valid     as collective_run.
//   Source    as collective_run.
//   Checked   tests/unit/packet/packet_collectives_test.cpp
#include <map>
#include <memory>

#include "hwmodels/packet/collective/collective_probe.hpp"

namespace tiersim {

class PacketCollectives final : public FabricListener {
 public:
  /// `flow`, which chooses, and the fabric must live longer.
  PacketCollectives(Engine& engine, const CollectiveProbeConfig& config, const Collective& flow,
                    PacketFabric& fabric);

  /// At this instant, on ports first_port and following. `done.on_event(engine, tag)` comes at its
  /// end. Precondition: 2 ranks or more, size above 0.
  void start(const CollectiveWork& work, std::size_t first_port, EventHandler& done,
             std::uint64_t tag);
  void on_done(Engine& engine, std::uint64_t run) override;

 private:
  struct Plan {
    CollectiveSchedule schedule;
    CollectiveTiming timing;
  };
  struct Run {
    std::unique_ptr<CollectiveRun> run;
    EventHandler* done = nullptr;  // none: it has ended
    std::uint64_t tag = 0;
  };
  const Plan& plan_of(const CollectiveWork& work);

  Engine& engine_;
  CollectiveProbeConfig config_;
  const Collective& flow_;
  PacketFabric& fabric_;
  std::map<std::tuple<CollectiveKind, std::int64_t, std::int64_t>, Plan> plans_;  // ranks, bytes
  std::vector<Run> runs_;
};

}  // namespace tiersim
