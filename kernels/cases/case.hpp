// One kernel at one shape: inputs, the launch, the float64 check, the work by formula. The same
// class serves the tests on the emulator (ragged toy shapes), the campaign on a card (timed sizes)
// and its dry run. Only the runtime below it differs (kernels/runtime).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cases/work.hpp"

namespace tiersim::kernels {

class Stream;

// The parameters of a launch, for registers, occupancy, waves and the record of the case.
struct LaunchUse {
  std::string kernel;              // name with its template arguments, as in the budgets
  const void* function = nullptr;  // of the __global__ function, for its attributes
  std::int64_t blocks = 0;         // of the grid
  int threads = 0;                 // of a block
  std::int64_t shared_bytes = 0;   // dynamic, of a block
  std::int64_t bytes_in_flight_per_block = 0;  // loads outstanding by design; 0: no design value
};

// Difference of the outputs from the float64 reference.
struct Agreement {
  // The largest over the outputs, relative in the 2-norm; for indices: mismatches
  double error = 0;
  double tolerance = 0;       // upper limit of error
  std::int64_t compared = 0;  // outputs compared (a sample at large shapes)
  bool holds() const { return compared > 0 && error <= tolerance; }  // false for NaN
};

struct CaseInfo {
  std::string family;   // ceiling, screening, latent, dense, early_exit, host_gather, ...
  std::string kernel;   // maple_screen, latent_decode, ...
  std::string variant;  // mma_sync, wgmma, two_copies, ...; baselines: cublaslt, cub
  std::string dtype;    // of the operands: bf16, int8, ...
  std::vector<std::pair<std::string, std::int64_t>> shape;  // in the usual order
  bool baseline = false;  // a library's kernel: timed beside ours and never fitted
};

class Case {
 public:
  virtual ~Case() = default;
  Case() = default;
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  virtual CaseInfo info() const = 0;
  virtual Work work() const = 0;  // of one enqueue()
  virtual std::vector<LaunchUse> launches() const = 0;
  // Memory of one set of inputs and outputs, of the device and of the host, without what sets
  // share.
  virtual std::int64_t set_bytes() const = 0;  // [B]

  // Makes `sets` sets of inputs from the seed, uploads them and poisons the outputs with NaN.
  // Timing rotates over the sets, so that L2 holds none of the inputs of a cold sample.
  virtual void prepare(int sets, std::uint64_t seed) = 0;
  // Launches once on one set, asynchronously. Must not allocate or synchronise, since graphs
  // capture it.
  virtual void enqueue(Stream& stream, int set) = 0;
  // Downloads the outputs of a set and compares them with the reference. Call it after
  // synchronising.
  virtual Agreement check(int set) = 0;
};

// toy: seconds on the emulator, for tests and dry runs. timed: sizes of kernels/README.md on a
// card.
enum class Sizes { toy, timed };

struct CaseEntry {
  std::string name;  // family.kernel.variant.shape: unique, stable, sortable; [a-z0-9_.-] only
  std::function<std::unique_ptr<Case>()> make;
  bool warm_too = false;  // true where reuse in L2 is realistic: timed warm as well as cold
  bool graph = true;      // false: a CUDA graph cannot capture it; timed launch after launch
};
using CaseList = std::vector<CaseEntry>;

}  // namespace tiersim::kernels
