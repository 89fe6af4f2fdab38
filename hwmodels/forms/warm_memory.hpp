#pragma once
#include "hwmodels/forms/kernel_form.hpp"

namespace tiersim {

/// Bytes of a kernel in the memory of a GPU, of which a benchmark that repeats itself finds a part
/// in L2.
struct WarmBytes {
  double kept = 0;   ///< bytes that the next repetition asks for again
  double moved = 0;  ///< bytes read and written in one of them
};

/// Parameters of a form for it.
struct WarmRates {
  double memory = 0.8;    ///< share of the memory's rate
  double l2_speed = 3;    ///< rate of L2 over that of memory
  double l2_share = 0.5;  ///< share of L2 that can hold them
  double l2_corner = 2;   ///< how sharply they fall out of it
};

/// Time [s]: all bytes at L2's rate and, together with it, those that are not there at the
/// memory's: 1 - min(1, (l2_share * warm * L2 / kept)^l2_corner) of them.
double warm_memory_time(const WarmBytes& bytes, const WarmRates& rates, const GpuSheet& gpu);

}  // namespace tiersim
