// Floors: lower bounds of the main cases' times on an H200, with the shares of them that the
// kernels should reach, in a first version and tuned. The summary shows them beside the measured
// times.
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace tiersim::kernels::bench {

// Rates for the bounds: those of an H200 in a copy and in a large product.
constexpr double kFloorBytesPerS = 4.3e12;
constexpr double kFloorFlops = 790e12;

struct Goal {
  std::string_view name;  // of the case
  double floor_us;        // the longer of bytes and FLOPs over the rates above
  const char* shares;     // share of the bound: first version / tuned
};

constexpr std::array<Goal, 14> kGoals = {{
    {"latent.latent_decode.wgmma.mla-b64-s32768-h128-d512", 739, "45 % / 80-85 %"},
    {"latent.latent_decode.wgmma.mla-tp2-b64-s32768-h64-d512", 562, "50 % / 80-85 %"},
    {"latent.latent_decode.wgmma.tpla-b64-s32768-h128-d256", 391, "40-50 % / 65-80 %"},
    {"latent.latent_decode.wgmma.gla2-b64-s32768-h64-d256", 312, "85 %"},
    {"dense.gqa_decode.mma_sync.ring2.b64-s32768-h32-kv4", 999, "85 %"},
    {"dense.dense_decode.fma.ring2.b128-s8192-h32-kv32", 3995, "75 % / 88-92 %"},
    {"dense.dense_decode.fma.ring3.b128-s8192-h32-kv32", 3995, "75 % / 88-92 %"},
    {"screening.maple_screen.r32-u16.b128-h32-s8192-k2048", 254, "60 % / 75-85 %"},
    {"screening.topk.f32-i32.b128-h32-s8192-k2048", 39, "25-30 % / 45-60 %"},
    {"screening.topk.f16-u16.b128-h32-s8192-k2048", 19.5, "25-30 % / 45-60 %"},
    {"screening.selected_attention.fma-u16.b128-h32-s8192-k2048", 1007, "75 % / 85 %"},
    {"early_exit.lm_head.rows128.t5-base-b1", 11.5, "70 % / 80-88 %"},
    {"early_exit.lm_head.rows128.t5-base-b64", 11.5, "70 % / 80-88 %"},
    {"early_exit.kv_fill.skinny8.t5-base-l6-b1", 6 * 0.55, "60 %"},
}};

// The goal of a case by its name, or null. A suffix is allowed, such as that of a warm run.
inline const Goal* goal_of(const std::string& name) {
  for (const Goal& goal : kGoals) {
    if (name.rfind(goal.name, 0) != 0) continue;
    if (name.size() == goal.name.size() || name[goal.name.size()] == '/') return &goal;
  }
  return nullptr;
}

}  // namespace tiersim::kernels::bench
