#pragma once
// Runs of bytes cut into packets with a header each, as the packet-based links do it.
#include <algorithm>

#include "hwmodels/runs.hpp"

namespace tiersim {

/// Number of packets of at most `most` bytes that one run of `length` takes.
inline std::int64_t packets_of(Bytes length, Bytes most) {
  return Runs::of(std::max(length, most), most).count();
}
/// Wire bytes of one run: its payload and one header for each packet.
inline Bytes with_headers(Bytes length, Bytes most, Bytes header) {
  return length + header * packets_of(length, most);
}

}  // namespace tiersim
