#pragma once
// Model card: default_numbers
//   Models    default numbers of packet-level devices, each with its class and source.
//   Equation  none.
//   Ignores   nothing.
//   Valid     always.
//   Source    in each.
//   Checked   tests/unit/packet/default_numbers_test.cpp
#include "sim/base/number_class.hpp"
#include "sim/base/units.hpp"

namespace tiersim {

/// A time of 0, for an effect that is left out.
inline Sourced<Duration> no_time() {
  return {Duration{}, NumberClass::assumed, "left out where none is stated"};
}

template <class T>
Sourced<T> not_published(T value) {
  return {value, NumberClass::assumed, "not published; order of magnitude"};
}

template <class T>
Sourced<T> recalled_of_nccl(T value) {
  return {value, NumberClass::assumed, "NCCL's source, recalled"};
}

}  // namespace tiersim
