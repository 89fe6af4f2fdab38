#pragma once
// Records back from their JSON text: the inverse of to_json(). What is written again is the same
// text, so a report does not know whether a record was just made or read.
//
// A record is read whole or not at all. A member that this tiersim does not know, as a newer one
// may write, is an error that names it, since a report over half a record would be wrong in
// silence. Names that are keys (metrics, devices, tensor classes) are data: any are read.
#include <string>

#include "sim/base/expected.hpp"
#include "sim/record/run_record.hpp"

namespace tiersim {

/// A whole record (schema tiersim.record/v1). The error says where: "results.metrics.bound_s.class:
/// 'sure' is none of measured, fitted, specification, assumed". What a served record says in words
/// (model, method, policy, promised latencies) is no part of the JSON, and empty afterwards.
Expected<RunRecord> read_record(const std::string& json);

/// The `results` object alone, as pretty_results() and compact_record.hpp write it. It may hold
/// some members only, `{"metrics": {...}}` say; the others are then empty. What `setup` would have
/// said is as in an empty RunRecord where there is none.
Expected<RunRecord> read_results(const std::string& results_json);

}  // namespace tiersim
