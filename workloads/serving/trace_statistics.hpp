#pragma once
// What a trace of requests is like: its lengths, its rate and bursts, and how much of its prompts a
// cache of each size would find. One pass over a file of any size; memory grows with the number of
// distinct lengths and of followed blocks.
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "sim/base/expected.hpp"
#include "workloads/serving/trace_file.hpp"
#include "workloads/trace/lru_curve.hpp"

namespace tiersim {

/// How often each length occurs.
class LengthCounts {
 public:
  void add(std::int64_t length) {
    ++counts_[length];
    ++all_;
  }
  double mean() const;
  /// Standard deviation over the mean.
  double variation() const;
  /// The least length that at least this share of the requests does not exceed; `share` from 0
  /// to 1.
  std::int64_t quantile(double share) const;
  std::int64_t most() const { return counts_.empty() ? 0 : counts_.rbegin()->first; }

 private:
  std::map<std::int64_t, std::int64_t> counts_;
  std::int64_t all_ = 0;
};

/// Requests in windows of one length that follow each other from the first arrival on; the last
/// one, which the trace may not fill, does not count.
struct WindowCounts {
  double seconds = 1;
  std::int64_t windows = 0;
  std::int64_t most = 0;  ///< in a window
  double mean = 0;        ///< a window
  double dispersion = 0;  ///< variance over mean: 1 for a Poisson process, 0 without a full window
};

struct TraceStatistics {
  std::int64_t requests = 0;
  double seconds = 0;        ///< from the first arrival to the last
  double gap_variation = 0;  ///< standard deviation of the gaps over their mean; 1: Poisson
  LengthCounts input = {};   ///< tokens
  LengthCounts output = {};
  std::array<WindowCounts, 3> windows = {};  ///< of 1 s, 10 s and 60 s
  std::int64_t with_blocks = 0;              ///< requests that name blocks of their prompts
  std::int64_t block = 0;     ///< tokens of a block, where the file states them; else 0
  std::int64_t sessions = 0;  ///< of the file; 0: it has none
  std::int64_t left_out = 0;  ///< requests that count nowhere, since they have no answer
  bool timed = true;          ///< false: the file does not say when its sessions begin
  LruCurve reuse;
};

/// `sampled`: share of the blocks that is followed, above 0 and at most 1. The errors are mistakes
/// of the file, each at its place.
Expected<TraceStatistics, TraceProblems> trace_statistics(const std::filesystem::path& path,
                                                          const std::optional<TraceFormat>& format,
                                                          double sampled);

}  // namespace tiersim
