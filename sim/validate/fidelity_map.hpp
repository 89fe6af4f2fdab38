#pragma once
// The workloads of the map of the three levels. Each is described once for the two levels that know
// costs of devices, and once as a microbenchmark of packets:
//   for (const LevelWorkload& w : workloads_of(config)) w.answer(Fidelity::flow).value;
//   Source    the simplifications of fluid models that are known to matter: small messages, many to
//             one, limits of what is in flight, order of mixed sizes, reads among writes.
//   Checked   tests/unit/validate/fidelity_map_test.cpp
#include <functional>
#include <vector>

#include "sim/validate/fidelity_map_accesses.hpp"
#include "sim/validate/fidelity_map_config.hpp"

namespace tiersim {

struct LevelWorkload {
  LevelFacts facts;  ///< unit: that of the measure
  LevelMeasure measure;
  std::vector<LevelAccess> accesses;
  std::function<LevelAnswer()> packet;
  std::shared_ptr<void> devices;  ///< of `accesses`

  LevelAnswer answer(Fidelity level) const {
    return level == Fidelity::packet ? packet() : answer_of(accesses, measure, level);
  }
};

/// Of every device that the configuration has. `config` need not live on.
std::vector<LevelWorkload> workloads_of(const FidelityMapConfig& config);

/// Why the configuration says that levels differ there: the longest name that fits. Empty: nobody
/// has said.
std::string reason_of(const FidelityMapConfig& config, const std::string& id);

}  // namespace tiersim
