#pragma once
// Metrics of one point over several seeds, as means with intervals.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/runner/point_runner.hpp"

namespace tiersim {

/// The mean of a metric over the seeds. Its 95 % interval is by Student's t over the seeds; of one
/// seed it is that of the record, if that has one.
struct SeedMean {
  double mean = 0;
  std::optional<Interval<double>> ci95 = {};
  std::string unit = {};
};

/// Runs a point with `seeds` consecutive seeds, from that of its own configuration on.
class PointMeans {
 public:
  /// `seeds` > 1 needs a server: a step has no seed of requests. Throws Failure (usage) otherwise.
  PointMeans(PointRunner& runner, Point point, std::int64_t seeds);

  /// True where the point is a server.
  bool of_server() const { return of_server_; }
  /// The records with this setting on top, one a seed, or the reason why one of them cannot run.
  /// Mistakes throw Failure.
  Expected<std::vector<PointResult>> run(const std::string& option);
  /// Metrics of these records; throws Failure (bad_config) if one lacks a metric.
  SeedMean mean(const std::vector<PointResult>& results, const std::string& metric) const;

 private:
  PointRunner& runner_;
  Point point_;
  bool of_server_ = false;
  std::vector<std::string> seeds_;  // settings; one empty text where the file's own seed is used
};

}  // namespace tiersim
