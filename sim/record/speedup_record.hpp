#pragma once
// Throughput of two variants of a step, and the factors of their ratio (sim/study/step_pair.hpp
// defines them): the input of reports.
#include <array>
#include <cstdint>
#include <string_view>

namespace tiersim {

enum class Ingredient : std::uint8_t { bytes, flops, padding, weights, batch, collectives };
inline constexpr std::array<std::string_view, 6> kIngredientNames{
    "bytes", "flops", "padding", "weights", "batch", "collectives"};

/// The cause of the largest part of a step. Weights are read once for the whole batch. So if they
/// take longest, a larger memory, hence batch, would help: the limit is capacity.
enum class StepLimit : std::uint8_t { hbm, flop, capacity, collective, host, launch };
inline constexpr std::array<std::string_view, 6> kStepLimitNames{"HBM",        "FLOP", "capacity",
                                                                 "all-reduce", "host", "launch"};

struct StepRate {
  std::int64_t batch = 0;
  double tokens_per_s = 0;
  StepLimit limit = StepLimit::hbm;
};

struct Speedup {
  StepRate base;
  StepRate other;
  double ratio = 0;  ///< tokens a second of `other` over those of `base`
  std::array<double, kIngredientNames.size()> factors{};  ///< by Ingredient; the product is `ratio`
};

}  // namespace tiersim
