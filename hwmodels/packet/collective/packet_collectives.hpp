#pragma once
// Model card: packet_collectives
//   Models    collectives that GPUs of one NVLink domain begin at any time over the one fabric that
//             joins them: concurrent collectives share its links.
//   Equation  as collective_run; the algorithm is the flow level's choice for that size.
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
  /// `flow`, which chooses the algorithm, and the fabric must outlive this object.
  PacketCollectives(Engine& engine, const CollectiveProbeConfig& config, const Collective& flow,
                    PacketFabric& fabric);

  /// Begins a collective now, on ports first_port and following; `done.on_event(engine, tag)` comes
  /// at its end. Precondition: 2 ranks or more, size above 0.
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
    EventHandler* done = nullptr;  // null: it has ended
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
