#pragma once
// Reads records from their JSON text: the inverse of to_json(). Writing the record again gives the
// same text, so reports cannot tell a new record from one that was read.
//
// A record is read whole or not at all. An unknown member, for example from a newer tiersim, is an
// error that names it, since a report over half a record would be silently wrong. Names that are
// keys (metrics, devices, tensor classes) are data: any name is read.
#include <string>

#include "sim/base/expected.hpp"
#include "sim/record/run_record.hpp"

namespace tiersim {

/// The provenance of a record's JSON text.
struct RecordOrigin {
  std::string tiersim_version;  ///< "unknown" if it is missing
  std::string run_id;           ///< likewise
};
/// Accepts a record with a `config` and `results`, without a look at their members; the error says
/// why another text is refused.
Expected<RecordOrigin> origin_of_record(const std::string& json);

/// A whole record (schema tiersim.record/v1). The error gives the place:
/// "results.metrics.bound_s.class: 'sure' is none of measured, fitted, specification, assumed". The
/// texts of a serving record (model, method, policy, promised latencies) are not part of the JSON,
/// and are empty afterwards.
Expected<RunRecord> read_record(const std::string& json);

/// The `results` object alone, as written by pretty_results() and compact_record.hpp. It may hold
/// some members only, for example `{"metrics": {...}}`; the others are then empty. Without `setup`,
/// its values are those of an empty RunRecord.
Expected<RunRecord> read_results(const std::string& results_json);

}  // namespace tiersim
