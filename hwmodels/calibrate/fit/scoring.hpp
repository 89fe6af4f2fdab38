#pragma once
// Model card: scoring (predictions against measurements)
//   Models    the errors of predictions that were committed before the measurement.
//   Equation  error = (predicted - measured) / measured; a case is covered where low <= measured <=
//             high; percentiles by nearest rank, the median of an even count is the mean of the
//             two.
//   Ignores   correlation between the errors of cases of one kernel: the counts say how many
//             cases there are.
//   Valid     times above 0. An error below a case's repeat noise is not resolved, and is counted
//             all the same.
//   Source    definitions above
//   Checked   tests/unit/hwmodels/calibrate_scoring_test.cpp
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/fit/kernel_fit.hpp"

namespace tiersim {

/// Times that a file predicts [s].
struct PredictedTimes {
  struct Case {
    std::string name;
    Estimate time;  ///< 0 < low <= value <= high
  };
  std::string file;
  std::string build_id;  ///< of the kernels
  std::string date;      ///< ISO 8601: a day, or a day and a time in UTC
  std::vector<Case> cases;
};

/// Times that a file reports as measured [s].
struct MeasuredTimes {
  struct Case {
    std::string name;
    double seconds = 0;
    double noise = 0;                  ///< repeat noise over `seconds`; 0 where not known
    std::optional<double> roofline;    ///< lower bound by data-sheet peaks
    std::optional<double> sum;         ///< sum of the medians of its kernels, each timed alone
    std::optional<Estimate> foretold;  ///< the prediction stated in the file of measurements
  };
  std::string file;
  std::string level;  ///< kernel: single kernels; sequence: composed ones
  std::string build_id;
  std::string date;
  std::string data_class;  ///< measured, reported or synthetic; none is refused
  std::string device;
  std::vector<Case> cases;
};

enum class ScoreStatus : std::uint8_t {
  covered,      ///< inside the predicted interval
  below_noise,  ///< outside, but by less than the repeat noise
  missed,       ///< outside by more than the repeat noise
};
inline constexpr std::array<std::string_view, 3> kScoreStatusNames{"covered", "below_noise",
                                                                   "missed"};

struct ScoredCase {
  std::string name;
  Estimate predicted;  ///< s
  double measured = 0;
  double error = 0;
  double noise = 0;
  ScoreStatus status = ScoreStatus::covered;
};

struct Score {
  std::vector<ScoredCase> cases;  ///< in the order of the measurements
  ErrorSummary summary;
  double noise_floor = 0;                ///< median of the cases' repeat noise
  std::int64_t unresolved = 0;           ///< cases whose error is below their own noise
  std::optional<ErrorSummary> roofline;  ///< errors of these lower bounds, without intervals
  std::optional<ErrorSummary> sum;       ///< errors of the sums of kernel medians
  std::vector<std::string> only_predicted;
  std::vector<std::string> only_measured;
};

/// Reasons against a comparison of the two files, in words; empty where there are none. Refused are
/// different builds; predictions later than the measurement or without a date; a day against a time
/// of that day (two equal days are accepted); a measurement made against other predictions; a dry
/// run.
std::vector<std::string> refusals(const PredictedTimes& predicted, const MeasuredTimes& measured);

/// Scores the cases that both name. Times are above 0; names are unique.
Score score(const PredictedTimes& predicted, const MeasuredTimes& measured);

}  // namespace tiersim
