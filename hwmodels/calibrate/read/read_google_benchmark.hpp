#pragma once
// Reader of Google Benchmark's files (--benchmark_out_format=json), version 1.5 or later.
//
// Names. "BM_kernel<bf16>/rows:64/4096/warm/manual_time" is the kernel, its variant, then its
// shape: named arguments by their name, others as arg0, arg1 and so on. The temperature is warm
// where the name or the label says so, and else cold.
//
// Times. real_time in its time_unit. Rows of one run_name are repetitions of one case: the case
// takes their median with its order-statistic interval. In a file of aggregates only, the _median
// row is the time (_mean where there is none), and its interval is +-1.96 * 1.2533 * stddev /
// sqrt(repetitions), the normal error of a median. Aggregates are never cases; where the file also
// has the repetitions, they must agree. A _cv row is a fraction whatever its time_unit says.
//
// Counters, each for one launch: memory_bytes, link_read_bytes, link_write_bytes, requested_bytes,
// flops, tail, bytes_in_flight, low_<unit> and high_<unit> (ns us ms s), shape.<name>, baseline (0
// or 1). A work with the suffix _per_second is a rate. SetBytesProcessed gives memory_bytes,
// SetItemsProcessed shape.items. The library divides rates by real time where the name has
// real_time or manual_time, and else by CPU time. Any other counter is a mistake, unless it is
// among ReadOptions::context or begins with "note.".
//
// From the context, device, class, build, l2_bytes and peak.<name> are read where they were added.
// Rows with error_occurred or skipped are left out with a note.
//
// Source: github.com/google/benchmark, docs/user_guide.md and src/json_reporter.cc.
#include <string>

#include "hwmodels/calibrate/read/json_fields.hpp"
#include "hwmodels/calibrate/read/read_timings.hpp"

namespace tiersim {

TimingSet read_google_benchmark(JsonFields& document, const std::string& file,
                                const ReadOptions& options, Diagnostics& diagnostics);

}  // namespace tiersim
