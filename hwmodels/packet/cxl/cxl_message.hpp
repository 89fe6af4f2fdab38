#pragma once
// Messages of CXL.mem, and their slots in flits.
#include <cstdint>

namespace tiersim {

/// Two classes each way, each with its own buffer: request (M2S Req) and write (M2S RwD) to the
/// device, no_data (S2M NDR) and data (S2M DRS) from it.
enum class CxlClass : std::uint8_t { request, write, no_data, data };
inline constexpr std::size_t kCxlClasses = 4;

struct CxlMessage {
  std::uint64_t address = 0;
  std::uint32_t access = 0;  ///< the host's access that this line belongs to
  std::uint16_t host = 0;
  std::uint16_t device = 0;
  CxlClass message_class = CxlClass::request;
};

inline constexpr std::int64_t kCxlLine = 64;
inline constexpr std::int64_t kCxlSlot = 16;

/// Slots of data behind the header.
inline std::int64_t data_slots(CxlClass c) {
  return c == CxlClass::write || c == CxlClass::data ? kCxlLine / kCxlSlot : 0;
}
inline bool is_response(CxlClass c) {
  return c == CxlClass::no_data || c == CxlClass::data;
}
/// Headers of this class that share a slot.
inline std::int64_t headers_in_slot(CxlClass c) {
  return is_response(c) ? 2 : 1;
}
/// Bytes of all its slots, where it shares its header slot: 16, 80, 8 and 72.
inline std::int64_t slot_bytes(CxlClass c) {
  return kCxlSlot / headers_in_slot(c) + kCxlSlot * data_slots(c);
}

}  // namespace tiersim
