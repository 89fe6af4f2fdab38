#pragma once
// Timings of kernels from a file, whatever wrote it. The format is told by the content:
// - campaign: JSON with schema tiersim.kernel_timings/v1 (read_campaign.hpp);
// - google_benchmark: JSON with `context` and `benchmarks` (read_google_benchmark.hpp);
// - nccl_tests: the table that all_reduce_perf and its kin print (read_nccl_tests.hpp);
// - csv: a header line and a row a case (read_csv.hpp).
//
//  const auto timings = read_timings("timing.json", text, {});
//  if (!timings) ...  // timings.error(): every mistake, with its place
//  const Plausible checked = check_timings(*timings);  // plausibility.hpp
//
// Nothing of a file is passed over in silence: what is not understood is a mistake, what is left
// out is in the notes of the set.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/read/timing.hpp"
#include "sim/base/expected.hpp"
#include "sim/config/diagnostics.hpp"

namespace tiersim {

/// What the user says about a file that does not say it. Where both say it they must agree; of
/// peaks, those of the file stand.
struct ReadOptions {
  std::string device = {};
  std::string date = {};
  std::string data_class = {};  ///< measured, reported, synthetic or none; "reported" where empty
  double l2_bytes = 0;
  std::vector<TimingPeak> peaks = {};
  /// Columns and counters that are context: neither work nor shape, and left out with a note.
  std::vector<std::string> context = {};
  std::string collective = {};  ///< of an NCCL log that does not name its test: "all_reduce"
  std::int64_t ranks = 0;       ///< of an NCCL log without a list of ranks
};

/// `file` is for messages.
Expected<TimingSet, Diagnostics> read_timings(const std::string& file, std::string_view text,
                                              const ReadOptions& options);

/// Takes over from `options` what `set` does not say, and holds its class against it: a set is
/// measured only where it names its device and date. For readers.
void complete(TimingSet& set, const ReadOptions& options, Diagnostics& diagnostics);

}  // namespace tiersim
