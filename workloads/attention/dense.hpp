#pragma once
// Method card: dense
//   Keeps     all keys and values in one tier, near or far.
//   Step      reads every row; from the far tier each layer's rows are copied to staging first.
//   Bytes     2 * batch * kv_heads * context * head_dim elements a layer, in runs of a whole
//   sequence. FLOPs     4 * batch * heads * context * head_dim a layer. Source    baseline of MAPLE
//   Table 1.
#include "workloads/attention/method.hpp"

namespace tiersim {

enum class KvTier : std::uint8_t { near, far };
inline constexpr std::array<std::string_view, 2> kKvTierNames{"near", "far"};

void register_dense(Registry<MethodKind>& registry);

}  // namespace tiersim
