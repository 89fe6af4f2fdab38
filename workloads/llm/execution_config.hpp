#pragma once
// What an engine runs besides products, attention and collectives, and what it fuses into them
// (`schema: tiersim.execution/v1`, configs/engines). Without it everything is fused and free, as
// for the best that a GPU could do.
//
//   norms        kernels before the attention, before the MLP and before the head that add the
//                residual and normalise; with_all_reduce: without a launch of their own where an
//                all-reduce comes before
//   rotary       a kernel that turns queries and keys
//   append       kernel: new keys and values are written by a kernel of their own; fused: by the
//                operation that makes them
//   activation   a kernel between the products of a dense MLP
//   scales       of the input of products of fp8 or fp4. dynamic: each product quantises its
//                input, as in its timings. static: attention, activation and a norm in an
//                all-reduce write quantised values, and after another norm the product divides
//                by the known scale
//   sampling     a kernel over the logits
//   vocabulary_type  of the embedding and the head, which checkpoints of fewer bits keep in bf16
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/config/fields.hpp"
#include "workloads/llm/data_type.hpp"

namespace tiersim {

enum class NormKernels : std::uint8_t { fused, kernels, with_all_reduce };
inline constexpr std::array<std::string_view, 3> kNormKernelsNames{"fused", "kernels",
                                                                   "with_all_reduce"};
enum class SmallKernel : std::uint8_t { fused, kernel };
inline constexpr std::array<std::string_view, 2> kSmallKernelNames{"fused", "kernel"};
enum class ActivationScales : std::uint8_t { dynamic, fixed };
inline constexpr std::array<std::string_view, 2> kActivationScalesNames{"dynamic", "static"};

struct ExecutionConfig {
  std::string source = {};  ///< where it is stated
  NormKernels norms = NormKernels::fused;
  SmallKernel rotary = SmallKernel::fused;
  SmallKernel append = SmallKernel::kernel;
  SmallKernel activation = SmallKernel::fused;
  SmallKernel sampling = SmallKernel::fused;
  ActivationScales scales = ActivationScales::dynamic;
  std::optional<DataType> vocabulary_type = {};  ///< absent: that of all weights

  /// Type of the embedding and the head where all other weights have `weights`.
  DataType vocabulary(DataType weights) const { return vocabulary_type.value_or(weights); }
};
void describe(Fields& f, ExecutionConfig& c);

}  // namespace tiersim
