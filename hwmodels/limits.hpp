#pragma once
// Ranges of device parameters: wide enough for any hardware, and narrow enough for the arithmetic
// of flow sharing (a channel up to 2^50 B/s, channel bytes up to 2^44 times the payload). An
// accepted value therefore never overflows later.
#include "sim/config/limits.hpp"

namespace tiersim {

inline constexpr Bandwidth kBandwidthMost = Bandwidth::from_base(1'000'000'000'000'000);

/// 1 KB/s to 1000 TB/s; above 0 at any efficiency, so a channel always has some capacity.
inline Limits bandwidth_limits() {
  return in_range(Bandwidth::from_base(1000), kBandwidthMost);
}
/// At least 1 GFLOP/s.
inline Limits flop_rate_limits() {
  return at_least(FlopRate::from_base(1'000'000'000));
}
/// 0 to 1 s.
inline Limits latency_limits() {
  return in_range(Duration(0), Duration(kPicosecondsPerSecond));
}
/// A share of a capacity; at least 1 %, so that rounding never gives a capacity of 0.
inline Limits share_limits() {
  return in_range(0.01, 1.0);
}
/// Header of a packet: 0 to 4096 B.
inline Limits header_limits() {
  return in_range(Bytes{}, Bytes::from_base(4096));
}
/// A packet, granule or request: 1 B to 1 GiB.
inline Limits packet_limits() {
  return in_range(Bytes::from_base(1), Bytes::from_base(std::int64_t{1} << 30U));
}
/// Commands or messages a second. Within the bandwidth limits, one takes up to 2^40 channel bytes.
inline Limits command_rate_limits() {
  return in_range(std::int64_t{1000}, std::int64_t{1'000'000'000'000});
}
/// Requests that may be outstanding at a time.
inline Limits outstanding_limits() {
  return in_range(1, 1 << 20);
}

}  // namespace tiersim
