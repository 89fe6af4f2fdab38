#pragma once
// A file of Google Benchmark (--benchmark_out_format=json), version 1.5 or later.
//
// Names. "BM_kernel<bf16>/rows:64/4096/warm/manual_time": the kernel, its variant, then its shape:
// named arguments by their name, others as arg0, arg1 and so on; warm, here or as the label, gives
// the temperature, which is cold elsewhere.
//
// Times. real_time in its time_unit. Rows of one run_name are repetitions of one case: their median
// with its order-statistic interval. Where only aggregates were written the _median row is the time
// (_mean where there is none), with +-1.96 * 1.2533 * stddev / sqrt(repetitions), the normal error
// of a median, as interval. Aggregates are never cases, and where the repetitions stand there too
// they must follow from them. A _cv row is a fraction whatever its time_unit says.
//
// Counters, of a launch each: memory_bytes, link_read_bytes, link_write_bytes, requested_bytes,
// flops, tail, bytes_in_flight, low_<unit> and high_<unit> (ns us ms s), shape.<name>, baseline (0
// or 1). With _per_second behind it a work is a rate. SetBytesProcessed gives memory_bytes,
// SetItemsProcessed shape.items. Rates are over real time where the name has real_time or
// manual_time, and over CPU time elsewhere: that is how the library divides. Any other counter is a
// mistake, unless it is among ReadOptions::context or begins with "note.".
//
// Of the context, device, class, build, l2_bytes and peak.<name> are read where somebody added
// them. Rows with error_occurred or skipped are left out with a note.
//
// Source: github.com/google/benchmark, docs/user_guide.md and src/json_reporter.cc.
#include <string>

#include "hwmodels/calibrate/read/json_fields.hpp"
#include "hwmodels/calibrate/read/read_timings.hpp"

namespace tiersim {

TimingSet read_google_benchmark(JsonFields& document, const std::string& file,
                                const ReadOptions& options, Diagnostics& diagnostics);

}  // namespace tiersim
