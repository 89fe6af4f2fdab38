#pragma once
// A file of the kernel campaign (configs/schema/campaign.schema.json): each entry is one process of
// one case. Processes are merged (timing_repeats.hpp). Of several launches of a case, the one with
// the most bytes in flight a block stands for it: it streams the data, and what follows it combines
// or gates. Its waves give the tail, ceil(waves) / waves (1 where no card knew them), and the bytes
// in flight of the whole GPU, those of a block times the blocks that are resident at once.
#include <string>

#include "hwmodels/calibrate/read/json_fields.hpp"
#include "hwmodels/calibrate/read/timing.hpp"

namespace tiersim {

TimingSet read_campaign(JsonFields& document, const std::string& file, Diagnostics& diagnostics);

}  // namespace tiersim
