#pragma once
// The difference of two records as tables and JSON.
#include <string>
#include <vector>

#include "reports/compare/record_difference.hpp"
#include "reports/render/table.hpp"

namespace tiersim {

/// One of the two records.
struct ComparedRecord {
  std::string source = {};  ///< "a.yaml", "sweep.db:17"
  const RunRecord* record = nullptr;
};

/// Tables of the two records, of their settings and of their results. Rows that are equal are left
/// out, and so are tables without rows.
std::vector<Table> difference_tables(const ComparedRecord& a, const ComparedRecord& b,
                                     const RecordDifference& difference);

/// `{a: {source, name, run_id, tiersim_version}, b, same_results, settings, config: [{setting, a,
/// b}], bounded_by: {a, b}, metrics: [{name, unit, a, b, difference, relative, intervals}],
/// footprint_bytes, traffic_bytes, time_split, channel_utilisation}`. `config` is null where a
/// record holds no configuration. A side without a value is null. `intervals` is "overlap", "apart"
/// or null.
std::string difference_json(const ComparedRecord& a, const ComparedRecord& b,
                            const RecordDifference& difference);

}  // namespace tiersim
