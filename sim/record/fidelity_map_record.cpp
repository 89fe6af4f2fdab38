#include "sim/record/fidelity_map_record.hpp"

#include <cmath>

#include "sim/base/check.hpp"

namespace tiersim {

double LevelRow::error_of(Fidelity level) const {
  const double finest = at(Fidelity::packet).value;
  TS_EXPECTS(finest > 0, finest);
  return (at(level).value - finest) / finest;
}

bool LevelRow::agrees() const {
  return !facts.alike || std::abs(error_of(Fidelity::flow)) <= kAlikeWithin;
}

bool LevelRow::explained() const {
  return !why.empty() && std::abs(error_of(Fidelity::flow)) > kAlikeWithin;
}

}  // namespace tiersim
