#pragma once
// Commands on the bus of one pseudo channel, as traces and the checker see them.
#include <cstdint>
#include <vector>

namespace tiersim {

enum class DramCommandKind : std::uint8_t {
  activate,
  precharge,
  read,
  write,
  refresh,
  refresh_bank
};

/// Times are in picoseconds. `row` is that of an ACT, RD or WR.
struct DramCommand {
  std::int64_t at_ps = 0;
  std::uint32_t row = 0;
  std::uint16_t bank = 0;  ///< (rank * bank groups + group) * banks of a group + bank
  DramCommandKind kind = DramCommandKind::activate;
};

/// In the order of decisions: an ACT may come after a later RD of another bank. The checker sorts.
using DramTrace = std::vector<DramCommand>;

}  // namespace tiersim
