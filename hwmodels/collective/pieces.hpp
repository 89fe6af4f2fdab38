#pragma once
// How n ranks cut a collective into pieces, one for each rank (the bandwidth-optimal exchange).
#include "sim/model/device.hpp"

namespace tiersim {

/// One piece: the size over the ranks, rounded up; all of a send.
inline Bytes piece_of(const CollectiveWork& work) {
  if (work.kind == CollectiveKind::send) return work.size;
  return Bytes::from_base((work.size.in_base() + work.ranks - 1) / work.ranks);
}

/// Pieces that leave each rank, and reach it.
inline std::int64_t pieces_sent(const CollectiveWork& work) {
  if (work.kind == CollectiveKind::send) return 1;
  return (work.kind == CollectiveKind::all_reduce ? 2 : 1) * (work.ranks - 1);
}

}  // namespace tiersim
