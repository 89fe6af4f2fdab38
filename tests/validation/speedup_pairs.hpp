#pragma once
// Two ways to run TPLA's scenarios, for the tests of speed-ups.
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/study/step_pair.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::testing {

using Settings = std::vector<std::string>;
struct Way {
  std::string name;
  Settings set = {};

  Way with(const Settings& more) const {
    Way out = *this;
    out.set.insert(out.set.end(), more.begin(), more.end());
    return out;
  }
  /// With the rates of the data sheet, which the ratios by hand have.
  ScenarioConfig config() const {
    return scenario("scenarios/tpla/" + name + ".yaml", with({"system.gpu.calibration=none"}).set);
  }
};

inline const Way kMla{"deepseek_v3_mla"};
inline const Way kTpla{"deepseek_v3_tpla"};
inline const AttentionKernelConfig kUnpadded;
inline constexpr std::size_t kIngredients = kIngredientNames.size();

inline AttentionKernelConfig tiles_of(std::int64_t rows) {
  return {.tiles = {{.value_width = 100'000, .rows = rows}}};
}

inline Settings on(const std::string& machine, const std::string& region) {
  const std::string base = machine == "h100_nvlink"
                               ? "[systems/h100_nvlink.yaml, bases/collectives_direct.yaml]"
                               : "systems/" + machine + ".yaml";
  return {"system.base=" + base, "step.region=" + region};
}

inline StepPair pair(const Way& base, const Way& other, std::int64_t base_batch,
                     std::int64_t other_batch) {
  auto made = StepPair::make(base.config(), other.config(), base_batch, other_batch);
  if (!made) throw std::runtime_error(made.error());
  return *std::move(made);
}

}  // namespace tiersim::testing
