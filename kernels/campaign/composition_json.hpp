// The composed sequences as data for the simulator that predicts them: the launches with their
// number, stream and dependencies, and the bytes and FLOPs of each.
//   {"schema": "tiersim.composition_plan/v1", "build_id": ..., "sequences": [{"name", "experiment",
//     "missing", "parts": [{"case", "timed_as", "kernel", "variant", "dtype", "baseline", "shape",
//     "work"}], "steps": [{"part", "stream", "after"}]}]}
// `missing` is the case that a sequence lacks; the sequence then has no parts. `timed_as` is the
// case whose timing is that of the part; empty where the part is not timed alone.
#pragma once
#include <string>
#include <vector>

#include "kernels/campaign/composition.hpp"
#include "kernels/campaign/json.hpp"

namespace tiersim::kernels::bench {

// Makes every part once and prepares none, so that no card is needed.
Json plan_json(const std::vector<Sequence>& sequences, const std::string& build_id);

}  // namespace tiersim::kernels::bench
