#pragma once
// Numbers of tokens of each request. All platforms give the same bits.
#include <cstdint>
#include <string_view>

#include "sim/base/rng.hpp"
#include "workloads/serving/length_config.hpp"

namespace tiersim {

/// The next length of this law, by at most one draw of the stream.
std::int64_t draw_length(const LengthConfig& config, Rng& rng);

class Lengths {
 public:
  /// `stream` names the random stream, so that prompts and answers have separate ones.
  Lengths(const LengthConfig& config, std::uint64_t seed, std::string_view stream);
  std::int64_t next() { return draw_length(config_, rng_); }

 private:
  LengthConfig config_;
  Rng rng_;
};

}  // namespace tiersim
