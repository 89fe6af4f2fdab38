#pragma once
// Reader of timings as comma-separated values: settings, a header line, and one row for each case.
//
//  # device: NVIDIA H200
//  # date: 2026-11-21
//  # class: reported
//  # l2: 60 MB
//  # peak.memory: 4800 GB/s
//  kernel,dtype,temperature,shape.rows,memory_bytes,time_us,low_us,high_us
//  copy,bf16,cold,1024,4194304,3.1,3.0,3.2
//
// Columns:
// - kernel: required;
// - time_ns, time_us, time_ms or time_s: one is required; or `time` with a unit in each cell
//  ("3.1 us"); low and high (the 95 % interval) alike;
// - name, variant, dtype: texts; a name is made of the other columns where it is missing;
// - temperature: cold or warm; cold, with a note, where the column is missing;
// - baseline: true or false;
// - memory_bytes, link_read_bytes, link_write_bytes, requested_bytes, bytes_in_flight: of a launch;
//  numbers of bytes, or with a unit ("64 MiB");
// - flops: of a launch, as executed;
// - tail: ceil(waves) / waves; or waves, from which it is made;
// - process: a whole number; rows that differ in it and the times alone are one case;
// - blocks, shape.<name>: whole numbers; a shape that is empty is no size of this kernel.
//
// A '#' line is a setting (device, date, class, build, l2, peak.<name>, family.<family>) where it
// has a key and a colon, and else a comment. "# family.gemm: my_kernel" says that the kernel stands
// for that family; such lines may be several. Fields may stand in double quotes (RFC 4180, on one
// line). An unknown column is a mistake unless it is among ReadOptions::context.
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/read/read_timings.hpp"

namespace tiersim {

/// Names of the columns, but for those of sizes (shape.<name>).
std::vector<std::string> csv_columns();

TimingSet read_csv(const std::string& file, std::string_view text, const ReadOptions& options,
                   Diagnostics& diagnostics);

}  // namespace tiersim
