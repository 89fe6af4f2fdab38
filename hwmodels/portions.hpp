#pragma once
// Time of work that is done in equal portions, one after another: windows of bytes in flight,
// batches of queued commands.
#include <limits>

#include "sim/base/units.hpp"

namespace tiersim {

/// ceil(each * amount / portion): the time of `amount` when every `portion` of it takes `each`.
constexpr Duration portions_time(Duration each, std::int64_t amount, std::int64_t portion) {
  TS_EXPECTS(each.count() >= 0 && amount >= 0 && portion > 0, each, amount, portion);
  const Int128 ps = (Int128{amount} * each.count() + portion - 1) / portion;
  if (ps > std::numeric_limits<std::int64_t>::max()) throw UnitOverflow();
  return Duration(static_cast<std::int64_t>(ps));
}

}  // namespace tiersim
