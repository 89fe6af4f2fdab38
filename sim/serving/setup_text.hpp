#pragma once
// The setup of a serving run, in words for its record.
#include "sim/record/serving_record.hpp"
#include "sim/serving/serving_config.hpp"

namespace tiersim {

/// The part of the record that describes the run; its results are empty.
ServingRecord setup_of(const ServingConfig& config, std::int64_t replicas);

}  // namespace tiersim
