#pragma once
// A step of a model: decode or prefill, its sequences and their length, its types, and the allowed
// overlap.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/config/fields.hpp"
#include "workloads/llm/data_type.hpp"
#include "workloads/llm/expert_balance.hpp"
#include "workloads/llm/llm_config.hpp"
#include "workloads/llm/weight_types.hpp"

namespace tiersim {

enum class StepKind : std::uint8_t {
  decode,   ///< every sequence grows by one position
  prefill,  ///< every sequence is processed as a whole, from its start
};
inline constexpr std::array<std::string_view, 2> kStepKindNames{"decode", "prefill"};

/// Operations that may run in parallel. Without an overlap setting, none do.
enum class Overlap : std::uint8_t {
  serial,              ///< each operation after the previous one; only write-backs overlap
  prefetch_screening,  ///< a layer screens and fetches by a query guessed from the layer before
  micro_batches,       ///< two halves of the batch, each serial, share the devices
};
inline constexpr std::array<std::string_view, 3> kOverlapNames{"serial", "prefetch_screening",
                                                               "micro_batches"};

/// Operations that are part of the step; memory contents are the same for all values.
enum class Region : std::uint8_t {
  step,             ///< everything
  layers,           ///< without embedding, head and host
  attention_block,  ///< of the layers: projections, attention, and the collectives of both
  attention,        ///< the attention kernels alone
};
inline constexpr std::array<std::string_view, 4> kRegionNames{"step", "layers", "attention_block",
                                                              "attention"};

/// The form of latent attention: with the unpacking of keys and values absorbed, or explicit.
enum class LatentUnpacking : std::uint8_t {
  automatic,  ///< absorbed in decode, explicit in prefill
  absorbed,
  explicit_heads,  ///< keys and values of every head; a decode step then has them in its cache
};
inline constexpr std::array<std::string_view, 3> kLatentUnpackingNames{"automatic", "absorbed",
                                                                       "explicit_heads"};

/// Elements of the state of linear attention. The inputs of its convolution are kept in bf16.
enum class StateType : std::uint8_t { fp32, bf16, fp16 };
inline constexpr std::array<std::string_view, 3> kStateTypeNames{"fp32", "bf16", "fp16"};

struct StepConfig {
  StepKind kind = StepKind::decode;
  std::int64_t batch = 1;
  std::int64_t context = 1;  ///< positions of each sequence, the newest included
  /// Of a prefill: positions of each sequence, the first ones, that are in the cache already.
  std::optional<std::int64_t> cached = {};
  std::int64_t encoder_context = 0;  ///< positions of the encoder's input; 0 without an encoder
  DataType weight_type = DataType::fp16;
  WeightTypes weight_types = {};  ///< of parts that differ from it
  DataType kv_type = DataType::fp16;
  StateType state_type = StateType::fp32;
  double expert_skew = 0;  ///< exponent of the power law of the loads of experts; 0: by chance
  /// Law of the popularity of experts, instead of expert_skew. If absent, experts are equally
  /// popular and tokens choose them by chance.
  std::optional<ExpertLoadConfig> expert_load = {};
  Overlap overlap = Overlap::serial;
  Region region = Region::step;
  LatentUnpacking latent = LatentUnpacking::automatic;

  /// The model's published types were set before the step's own were read (types_from); not a
  /// field.
  bool typed_by_model = false;

  std::int64_t found() const { return cached.value_or(0); }
  /// Returns the law by which tokens choose experts, or null if every GPU gets an equal share or
  /// loads follow the power law of `expert_skew`.
  const ExpertLoadConfig* drawn_load() const {
    if (expert_skew > 0 || (expert_load && expert_load->law == ExpertLaw::even)) return nullptr;
    return expert_load ? &*expert_load : &equally_popular();
  }
};
/// Gives a step that is about to be read the types of the model's published weights, if the model
/// states them; the step's own keys then lie over them.
void types_from(const LlmConfig& model, StepConfig& step);
/// The latent form of a step, for models with latents.
LatentForm latent_form(const StepConfig& step);
void describe(Fields& f, StepConfig& c);
/// What a step has in common with a server's iteration: element types, and the loads of experts.
void describe_types(Fields& f, StepConfig& c);

}  // namespace tiersim
