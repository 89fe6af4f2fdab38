#pragma once
// The workloads of the fidelity map, which compares the three levels. Each is described once for
// the two levels that use the costs of devices, and once as a microbenchmark of packets:
//   for (const LevelWorkload& w : workloads_of(config)) w.answer(Fidelity::flow).value;
//   Source    known simplifications of fluid models that matter: small messages, many to one,
//             limits of accesses in flight, order of mixed sizes, reads among writes.
//   Checked   tests/unit/validate/fidelity_map_test.cpp
#include <functional>
#include <vector>

#include "sim/validate/fidelity_map_accesses.hpp"
#include "sim/validate/fidelity_map_config.hpp"

namespace tiersim {

struct LevelWorkload {
  LevelFacts facts;  ///< its unit is that of the measure
  LevelMeasure measure;
  std::vector<LevelAccess> accesses;
  std::function<LevelAnswer()> packet;
  std::shared_ptr<void> devices;  ///< the devices of `accesses`

  LevelAnswer answer(Fidelity level) const {
    return level == Fidelity::packet ? packet() : answer_of(accesses, measure, level);
  }
};

/// The workloads of every device in the configuration, which may be destroyed afterwards.
std::vector<LevelWorkload> workloads_of(const FidelityMapConfig& config);

/// The configuration's reason why levels differ for a workload, from the longest entry that
/// matches. Empty if there is none.
std::string reason_of(const FidelityMapConfig& config, const std::string& id);

}  // namespace tiersim
