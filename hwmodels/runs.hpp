#pragma once
// An access of `payload` bytes in contiguous runs of `run` bytes: the number of runs, and the
// length of a shorter last one. Used by every device that moves whole granules.
#include <cstdint>

#include "sim/base/units.hpp"

namespace tiersim {

struct Runs {
  std::int64_t full = 0;  ///< number of runs of the whole length
  Bytes length;           ///< length of each full run
  Bytes rest;             ///< length of a shorter last run; 0 when there is none

  static Runs of(Bytes payload, Bytes run) {
    TS_EXPECTS(run > Bytes{} && run <= payload, run, payload);
    const std::int64_t full = payload.in_base() / run.in_base();
    return {full, run, payload - run * full};
  }
  std::int64_t count() const { return full + (rest > Bytes{} ? 1 : 0); }

  /// Sum of `bytes_of(run length)` over all runs.
  template <class BytesOf>
  Bytes total(BytesOf bytes_of) const {
    const Bytes whole = bytes_of(length) * full;
    return rest > Bytes{} ? whole + bytes_of(rest) : whole;
  }
};

}  // namespace tiersim
