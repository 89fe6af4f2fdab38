#pragma once
// The difference of two records as tables and JSON.
#include <string>
#include <vector>

#include "reports/compare/record_difference.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

/// One of the two, as it was given and what it is.
struct ComparedRecord {
  std::string source = {};  ///< "a.yaml", "sweep.db:17"
  const RunRecord* record = nullptr;
};

/// What they are, settings, and results; without what is the same. Tables without rows are left
/// out.
std::vector<Table> difference_tables(const ComparedRecord& a, const ComparedRecord& b,
                                     const RecordDifference& difference);

/// `{a: {source, name, run_id, tiersim_version}, b, same_results, settings, config: [{setting, a,
/// b}], bounded_by: {a, b}, metrics: [{name, unit, a, b, difference, relative, intervals}],
/// footprint_bytes, traffic_bytes, time_split, channel_utilisation}`. `config` is null where a
/// record does not hold its configuration. Sides that have no such value are null; intervals:
/// "overlap", "apart" or null.
std::string difference_json(const ComparedRecord& a, const ComparedRecord& b,
                            const RecordDifference& difference);

}  // namespace tiersim
