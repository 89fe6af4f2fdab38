#pragma once
// Model card: scoring (predictions against measurements)
//   Models    how far predictions that were committed beforehand lie from what was measured then.
//   Equation  error = (predicted - measured) / measured; a case is covered where low <= measured <=
//             high; percentiles by nearest rank, the median of an even count is the mean of the
//             two.
//   Ignores   that errors of cases of one kernel go together: the counts say how many there are.
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

/// Times as a file predicts them [s].
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

/// Times as a file measured them [s].
struct MeasuredTimes {
  struct Case {
    std::string name;
    double seconds = 0;
    double noise = 0;                  ///< of repetition, over `seconds`; 0 where not known
    std::optional<double> roofline;    ///< floor by data-sheet peaks
    std::optional<double> sum;         ///< of the medians of its kernels, each timed alone
    std::optional<Estimate> foretold;  ///< the prediction that its file was measured against
  };
  std::string file;
  std::string level;  ///< kernel: single ones; sequence: composed ones
  std::string build_id;
  std::string date;
  std::string data_class;  ///< measured, reported, synthetic; none is refused
  std::string device;
  std::vector<Case> cases;
};

enum class ScoreStatus : std::uint8_t {
  covered,      ///< measured inside the predicted interval
  below_noise,  ///< outside, but by less than repetition resolves
  missed,       ///< outside
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
  std::optional<ErrorSummary> roofline;  ///< of the floors, where a case has one; no intervals
  std::optional<ErrorSummary> sum;       ///< of the sums of kernel medians
  std::vector<std::string> only_predicted;
  std::vector<std::string> only_measured;
};

/// Why the two must not be held against each other, in words; empty where they may: another build,
/// predictions later than the measurement or without a date, a day against a time of that day (two
/// equal days are taken), measured against other predictions, a dry run.
std::vector<std::string> refusals(const PredictedTimes& predicted, const MeasuredTimes& measured);

/// Scores the cases that both name. Times are above 0; names are unique.
Score score(const PredictedTimes& predicted, const MeasuredTimes& measured);

}  // namespace tiersim
