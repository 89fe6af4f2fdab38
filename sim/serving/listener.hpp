#pragma once
// A second observer of a run besides its statistics, for example a timeline. It changes no event.
#include <cstdint>
#include <string>
#include <vector>

#include "sim/serving/hardware.hpp"
#include "sim/serving/observer.hpp"

namespace tiersim {

/// The replicas on one kind of hardware, with the numbers after those of the pools before.
struct ServedPool {
  std::string name;  ///< "prefill"; empty for the system of the configuration itself
  const System& system;
  const ServingHardware& hardware;
  std::int64_t replicas;
};

/// The run that begins. All members outlive the listener's use.
struct ServedRun {
  std::vector<ServedPool> pools;
  const std::string& name;
  const std::string& run_id;
};

class ServingListener : public ServingObserver {
 public:
  /// Called once, before all other functions. The listener passes every observation on to `next`.
  virtual void begin(const ServedRun& run, ServingObserver& next) = 0;
  /// The number of flows over a channel of a pool changes.
  virtual void on_flow(std::size_t pool, ChannelId channel, std::int64_t change) = 0;
  /// The end of the run. Not called for a run that cannot be served to its end.
  virtual void finish(SimTime now) = 0;
};

}  // namespace tiersim
