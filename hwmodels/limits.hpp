#pragma once
// What device parameters may be: wide enough for any hardware, and within what flow sharing can
// count (a channel up to 2^50 B/s, channel bytes up to 2^44 times the payload).
#include "sim/config/limits.hpp"

namespace tiersim {

inline constexpr Bandwidth kBandwidthMost = Bandwidth::from_base(1'000'000'000'000'000);

/// 1 KB/s to 1000 TB/s: no efficiency then leaves a channel without any capacity.
inline Limits bandwidth_limits() {
  return in_range(Bandwidth::from_base(1000), kBandwidthMost);
}
/// 1 GFLOP/s and more.
inline Limits flop_rate_limits() {
  return at_least(FlopRate::from_base(1'000'000'000));
}
/// 0 to 1 s.
inline Limits latency_limits() {
  return in_range(Duration(0), Duration(kPicosecondsPerSecond));
}

}  // namespace tiersim
