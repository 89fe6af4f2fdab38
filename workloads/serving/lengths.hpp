#pragma once
// How many tokens each request has. The same bits on every platform.
#include <cstdint>
#include <string_view>

#include "sim/base/rng.hpp"
#include "workloads/serving/workload_config.hpp"

namespace tiersim {

class Lengths {
 public:
  /// `stream` names the random numbers: those of prompts move no answer.
  Lengths(const LengthConfig& config, std::uint64_t seed, std::string_view stream);
  std::int64_t next();

 private:
  LengthConfig config_;
  Rng rng_;
};

}  // namespace tiersim
