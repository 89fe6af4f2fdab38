// Shares of their floors that the kernels should reach: a first version, and tuned.
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace tiersim::kernels::bench {

struct Goal {
  std::string_view part;  // of the case's name
  const char* shares;     // "first / tuned"
};

// From the agreed table of floors on an H200 (kernels/README.md).
constexpr std::array<Goal, 10> kGoals = {{
    {"latent.mla", "45-50 % / 80-85 %"},
    {"latent.tpla", "40-50 % / 65-80 %"},
    {"latent.gla", "85 %"},
    {"latent.gqa", "85 %"},
    {"dense.", "75 % / 88-92 %"},
    {"screening.screen", "60 % / 75-85 %"},
    {"screening.top", "25-30 % / 45-60 %"},
    {"screening.attention", "75 % / 85 %"},
    {"early_exit.head", "70 % / 80-88 %"},
    {"early_exit.kv_fill", "60 %"},
}};

// The goal of a case by its name, or nothing.
inline const Goal* goal_of(const std::string& name) {
  for (const Goal& goal : kGoals) {
    if (name.find(goal.part) != std::string::npos) return &goal;
  }
  return nullptr;
}

}  // namespace tiersim::kernels::bench
