#pragma once
// The pieces of a collective, one for each of n ranks (the bandwidth-optimal exchange).
#include "sim/model/device.hpp"

namespace tiersim {

/// Size of one piece: the size over the ranks, rounded up; the whole size for a send.
inline Bytes piece_of(const CollectiveWork& work) {
  if (work.kind == CollectiveKind::send) return work.size;
  return Bytes::from_base((work.size.in_base() + work.ranks - 1) / work.ranks);
}

/// Number of pieces that each rank sends, which is also the number that it receives.
inline std::int64_t pieces_sent(const CollectiveWork& work) {
  if (work.kind == CollectiveKind::send) return 1;
  return (work.kind == CollectiveKind::all_reduce ? 2 : 1) * (work.ranks - 1);
}

/// Bytes that a rank must send of each byte of the size, by which NCCL's tests turn a rate into a
/// bus bandwidth.
inline double bus_share(CollectiveKind kind, std::int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  if (kind == CollectiveKind::send) return 1;
  return (kind == CollectiveKind::all_reduce ? 2 : 1) * (n - 1) / n;
}

}  // namespace tiersim
