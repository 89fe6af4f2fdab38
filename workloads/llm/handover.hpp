#pragma once
// Handover of a prefill's cache to other GPUs, which decode from it (disaggregated serving). Each
// GPU sends its share of the decoding replica's cache, which may be sliced where this one's is not.
#include <array>
#include <cstdint>
#include <string_view>

#include "sim/config/fields.hpp"
#include "workloads/llm/parallel_config.hpp"

namespace tiersim {

enum class HandoverTime : std::uint8_t {
  layer_by_layer,  ///< each layer's rows as soon as they are computed
  at_end,          ///< all rows after the first token
};
inline constexpr std::array<std::string_view, 2> kHandoverTimeNames{"layer_by_layer", "at_end"};

struct HandoverConfig {
  ParallelConfig to;  ///< sharing of the model in the decoding replica
  HandoverTime when = HandoverTime::layer_by_layer;
};
void describe(Fields& f, HandoverConfig& c);

}  // namespace tiersim
