// The composed sequences as data, so that whoever predicts them knows what is launched, how often,
// on which stream and after what, and what each launch moves and computes.
//   {"schema": "tiersim.composition_plan/v1", "build_id": ..., "sequences": [{"name", "experiment",
//     "missing", "parts": [{"case", "timed_as", "kernel", "variant", "dtype", "baseline", "shape",
//     "work"}], "steps": [{"part", "stream", "after"}]}]}
// `missing` says which case a sequence lacks; it then has no parts. `timed_as` is the case whose
// timing is the part's; empty where it is not timed alone.
#pragma once
#include <string>
#include <vector>

#include "kernels/campaign/composition.hpp"
#include "kernels/campaign/json.hpp"

namespace tiersim::kernels::bench {

// Makes every part once, but prepares none: no card is needed.
Json plan_json(const std::vector<Sequence>& sequences, const std::string& build_id);

}  // namespace tiersim::kernels::bench
