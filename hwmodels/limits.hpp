#pragma once
// What device parameters may be: wide enough for any hardware, and within what flow sharing can
// count (a channel up to 2^50 B/s, channel bytes up to 2^44 times the payload), so that no value
// that is accepted overflows later.
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
/// Share of a capacity: not so low that rounding leaves none of it.
inline Limits share_limits() {
  return in_range(0.01, 1.0);
}
/// Headers of a packet, possibly none.
inline Limits header_limits() {
  return in_range(Bytes{}, Bytes::from_base(4096));
}
/// A packet, granule or request.
inline Limits packet_limits() {
  return in_range(Bytes::from_base(1), Bytes::from_base(std::int64_t{1} << 30U));
}
/// Commands or messages a second: with the bandwidth limits, one takes up to 2^40 channel bytes.
inline Limits command_rate_limits() {
  return in_range(std::int64_t{1000}, std::int64_t{1'000'000'000'000});
}
/// Requests that may wait at a time.
inline Limits outstanding_limits() {
  return in_range(1, 1 << 20);
}

}  // namespace tiersim
