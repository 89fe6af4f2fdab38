#pragma once
// Transaction layer packets, and the cutting of transfers into them.
#include <algorithm>
#include <cstdint>

#include "sim/base/units.hpp"

namespace tiersim {

/// The three classes of flow control, in the order in which credits are listed.
enum class TlpClass : std::uint8_t { posted, read, completion };
inline constexpr std::size_t kTlpClasses = 3;

struct Tlp {
  std::uint64_t address = 0;
  std::uint32_t request = 0;  ///< tag of a read and its completions; transfer of a write
  std::int32_t payload = 0;   ///< bytes of data in the packet
  std::int32_t length = 0;    ///< bytes that the packet is about: for a read, those requested
  std::uint16_t device = 0;   ///< the requester
  TlpClass tlp_class = TlpClass::posted;
};

/// Data credits of the packet: units of 16 B.
inline std::int64_t data_credits(const Tlp& tlp) {
  return (tlp.payload + 15) / 16;
}

/// Boundary in bytes that no request crosses.
inline constexpr std::int64_t kPciePage = 4096;

/// Length of the next packet of `left` > 0 bytes at `address`: at most `most`, not across 4 KB.
inline std::int64_t request_length(std::uint64_t address, std::int64_t left, std::int64_t most) {
  const auto in_page = static_cast<std::int64_t>(address % static_cast<std::uint64_t>(kPciePage));
  return std::min({left, most, kPciePage - in_page});
}
/// Length of the next completion of a read: it ends at a multiple of `boundary` or with the read.
inline std::int64_t completion_length(std::uint64_t address, std::int64_t left,
                                      std::int64_t boundary) {
  const auto beyond = static_cast<std::int64_t>(address % static_cast<std::uint64_t>(boundary));
  return std::min(left, boundary - beyond);
}

}  // namespace tiersim
