#pragma once
// Reader of a kernel campaign's file (configs/schema/campaign.schema.json): each entry is one
// process of one case. Processes are merged (timing_repeats.hpp). A case of several launches is
// represented by the one with the most bytes in flight a block: it streams the data, and the later
// launches combine or gate. Its waves give the tail, ceil(waves) / waves (1 where the card was not
// known). The bytes in flight of the whole GPU are those of a block times the resident blocks.

#include "hwmodels/calibrate/read/json_fields.hpp"
#include "hwmodels/calibrate/read/timing.hpp"

namespace tiersim {

TimingSet read_campaign(JsonFields& document, Diagnostics& diagnostics);

}  // namespace tiersim
