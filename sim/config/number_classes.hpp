#pragma once
// The classes of a configuration's numbers without their texts, for configurations that run many
// times.
#include <string>
#include <vector>

#include "sim/config/describe.hpp"

namespace tiersim {

/// One number of a configuration, by its dotted path.
struct ClassedNumber {
  std::string path;
  NumberClass number_class = NumberClass::assumed;
};

namespace detail {
std::vector<ClassedNumber> number_classes(const StructValue& config);
}  // namespace detail

/// The classes of list_numbers(), in its order, in a third of the time.
template <class C>
std::vector<ClassedNumber> list_number_classes(const C& config) {
  return detail::number_classes(detail::view(config));
}

}  // namespace tiersim
