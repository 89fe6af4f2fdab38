#pragma once
// One row of Google Benchmark's JSON with its name and counters parsed, for
// read_google_benchmark.cpp.
#include <string>

#include "hwmodels/calibrate/read/json_fields.hpp"
#include "hwmodels/calibrate/read/read_timings.hpp"

namespace tiersim::detail {

struct GoogleRow {
  TimingCase timing;      ///< work, shape and name, without times
  std::string run;        ///< run_name
  std::string aggregate;  ///< mean, median, stddev, cv or another; empty for a repetition
  double real = 0;        ///< s; of a _cv row, the fraction
  double low = 0;         ///< s; 0 without such a counter
  double high = 0;
  std::int64_t repetitions = 1;
  bool failed = false;  ///< no result: the row is noted, and the other fields are empty
};

GoogleRow read_google_row(JsonFields& row, const ReadOptions& options,
                          std::vector<std::string>& notes);

}  // namespace tiersim::detail
