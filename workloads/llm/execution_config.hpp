#pragma once
// The small kernels of an inference engine: norms, rotary embedding, KV append, activation
// function, quantisation and sampling (`schema: tiersim.execution/v1`, configs/engines). For each
// of them, the file says whether the engine launches a kernel of its own or fuses the work into a
// GEMM, an attention kernel or a collective. A configuration without an `execution` models an ideal
// engine, which fuses all of them at no cost.
//
//   norms        kernels: each norm before attention, MLP and head is a kernel, which also adds the
//                residual; with_all_reduce: a norm that follows an all-reduce is part of its
//                kernel; fused: norms take no time
//   query_norms  norms over queries and keys of models that have them: a kernel for each of the
//                two, one kernel for both, or fused into another operation at no cost. Where the
//                norm is over all heads and GPUs have some of them each, a kernel and an all-reduce
//                add up the squares before
//   latent_norms norms over the latents of queries and of keys and values (MLA, DeepSeek-V4),
//                likewise
//   latent_products  products of the hidden state that make the latents of queries and of keys and
//                values (MLA): a kernel for each, or one kernel for both
//   rotary       a kernel applies the rotary embedding to queries and keys
//   append       kernel: a kernel of its own writes new keys and values to the KV cache; fused: the
//                GEMM that computes them does
//   activation   a kernel applies the activation function between the GEMMs of a dense MLP
//   scales       how inputs of low-precision GEMMs (fp8, fp4, int8) are scaled. dynamic: the engine
//                finds a scale before each GEMM, which the GEMM's timings include. static: the
//                checkpoint states the scales, so attention, activation function and a norm that is
//                part of an all-reduce write quantised values; after a norm that is a kernel, the
//                engine divides by the known scale
//   mxfp4_inputs inputs of products with weights in mxfp4. bf16: the weights are widened; fp8: the
//                inputs are rounded to mxfp8, which the products' timings include
//   shared_experts  when the experts that every token passes are computed. after: as matrix
//   products
//                after the routed experts. beside: as products on a second stream, at the same time
//                as the routed experts; only their bytes and FLOPs then add time, not their launch
//                and their ramp-up. beside_tokens is the largest number of tokens for which engines
//                do this. fused: by the kernel of the routed experts, as if every token chose them,
//                if a GPU holds a part of every expert and both kinds have the same width and type;
//                otherwise as beside
//   expert_sum   a kernel adds the outputs of shared experts to those of routed ones, unless the
//                shared ones are fused with them
//   linear_split  a kernel splits the output of the joint product before a gated delta net into
//                queries, keys, values and gates; other kinds of linear attention have separate
//                products, or one whose output needs no splitting
//   linear_norm  a kernel applies the gated norm to the outputs of linear attention
//   sampling     a kernel chooses the next tokens from the logits
//   exchange_sms SMs that products of two micro-batches leave to the exchange of tokens between
//                experts, in the whole step, as SGLang has it for prompts: their arithmetic has the
//                rest, and what waits for memory takes as long as before. Attention and small
//                kernels have all SMs, though an exchange may be under way
//   dependent_launch  by how much a kernel or an all-reduce begins earlier than its launch would
//                allow (CUDA's programmatic dependent launch); by that launch at most
//   vocabulary_type  data type of the embedding and the output head, which quantised checkpoints
//                usually keep in bf16
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"
#include "workloads/llm/data_type.hpp"

namespace tiersim {

enum class NormKernels : std::uint8_t { fused, kernels, with_all_reduce };
inline constexpr std::array<std::string_view, 3> kNormKernelsNames{"fused", "kernels",
                                                                   "with_all_reduce"};
enum class QueryNorms : std::uint8_t { fused, kernel, kernels };
inline constexpr std::array<std::string_view, 3> kQueryNormsNames{"fused", "kernel", "kernels"};
enum class LatentProducts : std::uint8_t { kernels, kernel };
inline constexpr std::array<std::string_view, 2> kLatentProductsNames{"kernels", "kernel"};
enum class SmallKernel : std::uint8_t { fused, kernel };
inline constexpr std::array<std::string_view, 2> kSmallKernelNames{"fused", "kernel"};
enum class ActivationScales : std::uint8_t { dynamic, fixed };
inline constexpr std::array<std::string_view, 2> kActivationScalesNames{"dynamic", "static"};
enum class Mxfp4Inputs : std::uint8_t { bf16, fp8 };
inline constexpr std::array<std::string_view, 2> kMxfp4InputsNames{"bf16", "fp8"};

enum class SharedExperts : std::uint8_t { after, beside, fused };
inline constexpr std::array<std::string_view, 3> kSharedExpertsNames{"after", "beside", "fused"};

struct ExchangeSms {
  Sourced<std::int64_t> taken;
  Sourced<std::int64_t> of;  ///< all SMs of the GPU

  /// Share of the SMs that other kernels may use.
  double left() const {
    return 1 - static_cast<double>(taken.value) / static_cast<double>(of.value);
  }
};
void describe(Fields& f, ExchangeSms& c);

struct ExecutionConfig {
  std::string source = {};  ///< where it is stated
  NormKernels norms = NormKernels::fused;
  QueryNorms query_norms = QueryNorms::fused;
  std::optional<QueryNorms> latent_norms = {};         ///< none: fused
  std::optional<LatentProducts> latent_products = {};  ///< none: kernels
  SmallKernel rotary = SmallKernel::fused;
  SmallKernel append = SmallKernel::kernel;
  SmallKernel activation = SmallKernel::fused;
  std::optional<SmallKernel> expert_sum = {};    ///< none: fused
  std::optional<SmallKernel> linear_split = {};  ///< none: fused
  std::optional<SmallKernel> linear_norm = {};   ///< none: fused
  SmallKernel sampling = SmallKernel::fused;
  ActivationScales scales = ActivationScales::dynamic;
  std::optional<Mxfp4Inputs> mxfp4_inputs = {};      ///< none: bf16
  std::optional<SharedExperts> shared_experts = {};  ///< none: after
  std::optional<std::int64_t> beside_tokens = {};    ///< of a GPU; none: any number
  std::optional<ExchangeSms> exchange_sms = {};
  std::optional<Sourced<Duration>> dependent_launch = {};  ///< none: 0
  std::optional<DataType> vocabulary_type = {};            ///< absent: that of all weights

  /// Type of the embedding and the head where all other weights have `weights`.
  DataType vocabulary(DataType weights) const { return vocabulary_type.value_or(weights); }
  /// Returns whether shared experts run at the same time as routed ones in a step with this many
  /// tokens on a GPU.
  bool shared_beside(std::int64_t tokens) const {
    return shared_experts.value_or(SharedExperts::after) != SharedExperts::after &&
           tokens <= beside_tokens.value_or(tokens);
  }
  /// The arithmetic of a matrix product whose weights have this type.
  Arithmetic arithmetic(DataType weights) const {
    const bool narrow = weights == DataType::mxfp4 && mxfp4_inputs == Mxfp4Inputs::fp8;
    return narrow ? Arithmetic::fp8 : arithmetic_of(weights);
  }
};
void describe(Fields& f, ExecutionConfig& c);

}  // namespace tiersim
