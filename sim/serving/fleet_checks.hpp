#pragma once
// Mistakes of a server whose replicas fail, are slower, are started and stopped, or hand requests
// over (fleet_config.hpp).
#include "sim/config/fields.hpp"
#include "sim/serving/serving_config.hpp"

namespace tiersim {

void check_fleet(Fields& f, const ServingConfig& c);

}  // namespace tiersim
