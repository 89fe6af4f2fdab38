#pragma once
// Where the time of an average iteration of a server goes, by kind of kernel.
#include <cstdint>
#include <string>
#include <vector>

namespace tiersim {

/// All kernels of one kind in an iteration.
struct IterationPart {
  std::string name;           ///< "products of the MLP"
  std::int64_t launches = 0;  ///< 0: part of other kernels
  std::int64_t kernels = 0;   ///< that occupy the GPU; a collective is none
  double seconds = 0;
  std::string bound;       ///< what takes the largest share of that time: "hbm.bus", "kernel" ...
  double bound_share = 0;  ///< of the part's time
};

/// The mean of all iterations of one kind.
struct ExplainedIteration {
  std::string pool = {};  ///< "prefill", where these replicas have a system of their own
  bool reads_prompts = false;
  std::int64_t iterations = 0;
  double decodes = 0;                ///< sequences that get a token
  double context = 0;                ///< positions of each of them
  double prompt_tokens = 0;          ///< read in an iteration
  double before = 0;                 ///< time of the CPU before the GPU starts [s]
  double gpu = 0;                    ///< from there to the end of the iteration [s]
  double copies = 0;                 ///< that the GPU waits for, and experts that move [s]
  double waits = 0;                  ///< of `gpu`, in which the GPU waits for the CPU [s]
  std::vector<IterationPart> parts;  ///< of a mean iteration, in the order of their first kernel

  /// The sum of the durations of all parts [s].
  double kernel_time() const {
    double sum = 0;
    for (const IterationPart& part : parts) sum += part.seconds;
    return sum;
  }
  /// How much longer the simulated iterations took on average than one iteration of average size
  /// [s]. It is large where iterations differ a lot or wait for loads, swaps and hand-overs of KV
  /// blocks, and negative where kernels overlap.
  double rest() const { return gpu - waits - kernel_time(); }
};

}  // namespace tiersim
