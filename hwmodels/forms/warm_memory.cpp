#include "hwmodels/forms/warm_memory.hpp"

#include "hwmodels/forms/blend.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

constexpr double kSharpness = 3;  // between the times of L2 and of memory

double missed(double kept, double held, double corner) {
  if (held <= 0) return 1;
  if (held >= kept) return 0;
  return 1 - portable_exp(corner * portable_log(held / kept));
}

}  // namespace

double warm_memory_time(const WarmBytes& bytes, const WarmRates& rates, const GpuSheet& gpu) {
  const double held = rates.l2_share * gpu.warm * gpu.l2_bytes;
  const double all = bytes.moved / (rates.l2_speed * gpu.memory);
  const double outside =
      bytes.moved * missed(bytes.kept, held, rates.l2_corner) / (rates.memory * gpu.memory);
  return blend(all, outside, kSharpness);
}

}  // namespace tiersim
