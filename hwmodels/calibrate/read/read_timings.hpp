#pragma once
// Reader of kernel timings in any supported format. The content decides on the format:
// - campaign: JSON with schema tiersim.kernel_timings/v1 (read_campaign.hpp);
// - google_benchmark: JSON with `context` and `benchmarks` (read_google_benchmark.hpp);
// - nccl_tests: the table that all_reduce_perf and its kin print (read_nccl_tests.hpp);
// - csv: a header line and a row a case (read_csv.hpp).
//
//  const auto timings = read_timings("timing.json", text, {});
//  if (!timings) ...  // timings.error(): every mistake, with its place
//  const Plausible checked = check_timings(*timings);  // plausibility.hpp
//
// Nothing in a file is ignored silently: an unknown member is a mistake, and the notes of the set
// list what was left out.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/read/timing.hpp"
#include "sim/base/expected.hpp"
#include "sim/config/diagnostics.hpp"

namespace tiersim {

/// Facts that the user states for a file that lacks them. Where both state one, they must agree; of
/// peaks, those of the file hold.
struct ReadOptions {
  std::string device = {};
  std::string date = {};
  std::string data_class = {};  ///< measured, reported, synthetic or none; "reported" where empty
  double l2_bytes = 0;
  std::vector<TimingPeak> peaks = {};
  /// Columns and counters that are context: neither work nor shape, and left out with a note.
  std::vector<std::string> context = {};
  std::string collective = {};  ///< test of an NCCL log that does not name it: "all_reduce"
  std::int64_t ranks = 0;       ///< number of ranks of an NCCL log that does not list them
};

/// `file` is the name in messages.
Expected<TimingSet, Diagnostics> read_timings(const std::string& file, std::string_view text,
                                              const ReadOptions& options);

/// Fills missing facts of `set` from `options`, and checks its class: a set is measured only where
/// it names its device and date. For readers.
void complete(TimingSet& set, const ReadOptions& options, Diagnostics& diagnostics);

}  // namespace tiersim
