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
//   pipeline          consecutive layers on this many groups; the batch is cut into as many
//                     micro-batches
//   experts: spread   whole experts on each GPU (EP)
//   experts: split    a part of every expert on each
#include <array>
#include <cstdint>
#include <string_view>

#include "sim/config/fields.hpp"

namespace tiersim {

enum class AttentionSharing : std::uint8_t { tensor, data };
inline constexpr std::array<std::string_view, 2> kAttentionSharingNames{"tensor", "data"};

/// Point where slices of the latent are added up: after the output projection, of which every slice
/// then has all weights, or before it, so that each GPU has a part of it.
enum class OutputProjection : std::uint8_t { replicated, split };
inline constexpr std::array<std::string_view, 2> kOutputProjectionNames{"replicated", "split"};

enum class ExpertSharing : std::uint8_t { split, spread };
inline constexpr std::array<std::string_view, 2> kExpertSharingNames{"split", "spread"};

struct ParallelConfig {
  std::int64_t tensor = 1;
  std::int64_t latent_slices = 1;
  AttentionSharing attention = AttentionSharing::tensor;
  OutputProjection output_projection = OutputProjection::replicated;
  std::int64_t pipeline = 1;
  ExpertSharing experts = ExpertSharing::split;

  /// Number of GPUs of one replica.
  std::int64_t devices() const { return tensor * pipeline; }
  /// Number of GPUs that share the heads of a slice.
  std::int64_t head_shards() const {
    return attention == AttentionSharing::data ? 1 : tensor / latent_slices;
  }
  bool sequences_are_spread() const { return attention == AttentionSharing::data && tensor > 1; }
  /// Sequences of the GPU with the most, whose attention it computes.
  std::int64_t own_sequences(std::int64_t all) const {
    return sequences_are_spread() ? (all + tensor - 1) / tensor : all;
  }
};
void describe(Fields& f, ParallelConfig& c);

}  // namespace tiersim
