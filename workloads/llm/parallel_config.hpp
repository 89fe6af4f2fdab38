#pragma once
// The sharing of a model among the GPUs of one replica. `gpus.count` of the system over devices()
// is the number of replicas; each runs a step of its own.
//
//   tensor            heads, MLP columns and vocabulary are split over this many GPUs
//   latent_slices     TPLA (arXiv 2508.15881, section 4.4): the tensor group is divided into this
//                     many groups, each with its own slice of the latent and all heads, which are
//                     split within it. 1: MLA, every GPU holds the whole latent
//   attention: data   every GPU of the tensor group has whole attention weights and sequences
//                     of its own (SGLang's DP attention); everything else is split as usual
//   attention_tensor  with attention: data, every group of this many neighbouring GPUs has
//                     sequences of its own and splits their heads (SGLang: --tp 8 --dp 4 has
//                     groups of 2; vLLM: tensor parallel 2, data parallel 4)
//   context           the positions of every sequence are cut over this many tensor groups, each
//                     with all weights. A prompt: attention/context_attention.hpp. A decode step:
//                     attention/context_decode.hpp; a group has the products of its own sequences
//   pipeline          consecutive layers on this many groups; the batch is cut into as many
//                     micro-batches
//   experts: spread   whole experts on each GPU (EP), with copies of some (expert_balance.hpp)
//   experts: split    a part of every expert on each
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/config/fields.hpp"
#include "workloads/llm/data_type.hpp"
#include "workloads/llm/expert_balance.hpp"

namespace tiersim {

enum class AttentionSharing : std::uint8_t { tensor, data };
inline constexpr std::array<std::string_view, 2> kAttentionSharingNames{"tensor", "data"};

/// Point where slices of the latent are added up: after the output projection, of which every slice
/// then has all weights, or before it, so that each GPU has a part of it.
enum class OutputProjection : std::uint8_t { replicated, split };
inline constexpr std::array<std::string_view, 2> kOutputProjectionNames{"replicated", "split"};

/// Dense MLPs and the vocabulary, where attention is data parallel: split over all GPUs, which
/// first gather all tokens, or over the GPUs that share sequences, for these alone.
enum class DenseSharing : std::uint8_t { tensor, data };
inline constexpr std::array<std::string_view, 2> kDenseSharingNames{"tensor", "data"};

enum class ExpertSharing : std::uint8_t { split, spread };
inline constexpr std::array<std::string_view, 2> kExpertSharingNames{"split", "spread"};

/// The pieces of a prompt that a context rank has: two of 2 N, the r-th from the start and from the
/// end, so that all ranks have equal work under a causal mask; or one of N in a row.
enum class ContextOrder : std::uint8_t { zigzag, contiguous };
inline constexpr std::array<std::string_view, 2> kContextOrderNames{"zigzag", "contiguous"};

/// How queries meet the keys of other context ranks.
enum class ContextExchange : std::uint8_t {
  ring,        ///< rows go round, one rank further in each step (ContextRing)
  all_gather,  ///< every rank gathers them before its attention
  all_to_all,  ///< every rank attends over the whole prompt with a part of the heads (Ulysses)
};
inline constexpr std::array<std::string_view, 3> kContextExchangeNames{"ring", "all_gather",
                                                                       "all_to_all"};

/// Rows that go round in a ring: keys and values, or queries, whose partial results then go back by
/// an all-to-all. by_bytes: those of which a rank sends fewer bytes in all.
enum class ContextRing : std::uint8_t { pass_kv, pass_q, by_bytes };
inline constexpr std::array<std::string_view, 3> kContextRingNames{"pass_kv", "pass_q", "auto"};

struct ParallelConfig {
  std::int64_t tensor = 1;
  std::int64_t latent_slices = 1;
  AttentionSharing attention = AttentionSharing::tensor;
  OutputProjection output_projection = OutputProjection::replicated;
  std::int64_t pipeline = 1;
  ExpertSharing experts = ExpertSharing::split;
  std::optional<std::int64_t> attention_tensor = {};  ///< 1 where absent
  std::optional<DenseSharing> dense = {};             ///< tensor where absent
  std::int64_t redundant_experts = 0;                 ///< slots for copies of popular experts
  ExpertPlacement expert_placement = ExpertPlacement::contiguous;
  std::optional<DataType> dispatch_type = {};  ///< of the rows sent to experts; bf16 where absent
  std::optional<std::int64_t> context = {};
  std::optional<ContextOrder> context_order = {};
  std::optional<ContextExchange> context_exchange = {};
  std::optional<ContextRing> context_ring = {};

  /// Number of GPUs of one replica, and of one stage of its pipeline.
  std::int64_t devices() const { return stage_devices() * pipeline; }
  std::int64_t stage_devices() const { return tensor * context_ranks(); }
  /// At least 1, also where `context` could not be read.
  std::int64_t context_ranks() const { return std::max<std::int64_t>(context.value_or(1), 1); }
  bool cuts_prompts() const { return context_ranks() > 1; }
  bool is_zigzag() const { return context_order != ContextOrder::contiguous; }
  ContextExchange exchange() const { return context_exchange.value_or(ContextExchange::ring); }
  ContextRing ring() const { return context_ring.value_or(ContextRing::pass_kv); }
  /// Number of pieces that a prompt is cut into.
  std::int64_t context_pieces() const { return (is_zigzag() ? 2 : 1) * context_ranks(); }
  /// Number of GPUs that share the heads of a slice.
  std::int64_t head_shards() const {
    return attention == AttentionSharing::data ? attention_gpus() : tensor / latent_slices;
  }
  /// Number of GPUs that attend to the same sequences.
  std::int64_t attention_gpus() const {
    if (attention == AttentionSharing::tensor) return tensor;
    return std::max<std::int64_t>(std::min(attention_tensor.value_or(1), tensor), 1);
  }
  /// GPUs over which dense MLPs and the vocabulary are split.
  std::int64_t dense_shards() const {
    return dense == DenseSharing::data ? attention_gpus() : tensor;
  }
  /// True where dense MLPs and the vocabulary work on the tokens of all GPUs of `tensor`.
  bool gathers_dense() const { return dense != DenseSharing::data && tensor > 1; }
  bool sequences_are_spread() const { return attention == AttentionSharing::data && tensor > 1; }
  /// GPUs, or groups of them, of which each has sequences of its own in a decode step.
  std::int64_t sequence_groups() const {
    return sequences_are_spread() ? tensor / attention_gpus() : context_ranks();
  }
  /// Sequences of the GPU with the most, whose products it computes, and its attention unless
  /// context ranks share that.
  std::int64_t own_sequences(std::int64_t all) const {
    return (all + sequence_groups() - 1) / sequence_groups();
  }
};
void describe(Fields& f, ParallelConfig& c);

}  // namespace tiersim
