#include "hwmodels/packet/probe_window.hpp"

#include <numeric>

namespace tiersim {

Bandwidth ProbeWindow::rate_of(Bytes payload) const {
  const Duration window = closes_ - opened_;
  if (window.count() <= 0) return {};
  const Int128 rate = Int128{payload.in_base()} * kPicosecondsPerSecond / window.count();
  return Bandwidth::from_base(static_cast<std::int64_t>(rate));
}

Bandwidth ProbeWindow::bandwidth() const {
  return rate_of(std::accumulate(in_window_.begin(), in_window_.end(), Bytes{}));
}

}  // namespace tiersim
