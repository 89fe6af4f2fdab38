#pragma once
// The kernels of one iteration of a server with their times, for a timeline. Each takes its time
// alone on the system, one after another, and none begins before the CPU has launched it.
#include <string_view>
#include <vector>

#include "sim/serving/pools.hpp"
#include "workloads/serving/scheduler.hpp"

namespace tiersim {

struct KernelSlice {
  std::string_view name;  ///< "decode attention"
  int layer = -1;         ///< -1: of no layer
  Duration begin{};       ///< since the GPU begins the iteration
  Duration end{};
};

class IterationKernels {
 public:
  explicit IterationKernels(const ServingConfig& config);

  /// False for models with an encoder, under early exit, and where operations overlap: their
  /// iterations have no row of kernels.
  bool known() const { return serial_; }

  /// In their order, of a replica of the pool (pools_of()). Decoding sequences have their mean
  /// context. Empty where they are not known.
  std::vector<KernelSlice> of(const Iteration& iteration, std::size_t pool = 0) const;

 private:
  std::vector<ServerPool> pools_;
  std::vector<System> systems_;  // by pool
  bool serial_ = true;
};

}  // namespace tiersim
