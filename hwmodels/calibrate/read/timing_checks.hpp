#pragma once
// The rules behind plausibility.hpp, one function each, and what they say to.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/read/plausibility.hpp"

namespace tiersim::detail {

/// What has been found so far, by case.
class Findings {
 public:
  explicit Findings(const TimingSet& timings) : timings_(timings), refused_(timings.cases.size()) {}

  void refuse(std::size_t index, std::string rule, std::string reason);
  void warn(std::size_t index, std::string rule, std::string reason);
  void warn_file(std::string rule, std::string reason);
  bool refused(std::size_t index) const { return refused_[index]; }
  bool refused_for(std::size_t index, std::string_view rule) const;
  Plausible result() const;

 private:
  struct Finding {
    std::size_t index = 0;
    TimingRefusal text;
  };
  const TimingSet& timings_;
  std::vector<bool> refused_;
  std::vector<Finding> refusals_;
  std::vector<TimingWarning> warnings_;
};

/// Shares of the false alarms of a file, and the noise of log t where no interval is stated.
inline constexpr double kFalseAlarms = 5e-4;
inline constexpr double kUnstatedNoise = 0.05;
/// What a pair of cases may differ by that bytes and FLOPs do not say.
inline constexpr double kModelMargin = 0.12;

/// The standard deviation of log t that the interval of a case states.
double log_noise(const TimingCase& timing);
/// Standard errors that m comparisons exceed, one-sided, with a probability of at most
/// kFalseAlarms.
double standard_errors(std::size_t comparisons);

/// Bytes of an element of a type of operands; 0 where it is not known.
int element_bytes(std::string_view dtype);

/// Of a case i and another j, whether their times can be compared, and the largest ratio of a work
/// of i to that of j; infinite where j has none of it.
bool comparable(const TimingCase& i, const TimingCase& j);
double work_ratio(const TimingCase& i, const TimingCase& j);
/// log t_i less the most that t_j allows, both without noise; `ratio` is work_ratio(i, j).
double excess(const TimingCase& i, const TimingCase& j, double ratio, double l2_bytes);

/// How bytes came to be a factor off.
struct ByteSlip {
  std::string rule;
  std::string what;
};
/// `factor`: stated bytes over those that a formula gives; `element`: bytes of one, 0 where not
/// known. Nothing where it is no known slip.
std::optional<ByteSlip> byte_slip(double factor, int element);

void check_limits(const TimingSet& timings, Findings& findings);
void check_labels(const TimingSet& timings, Findings& findings);
void check_duplicates(const TimingSet& timings, Findings& findings);
void check_byte_formulas(const TimingSet& timings, Findings& findings);
void check_neighbours(const TimingSet& timings, Findings& findings);
void check_trend(const TimingSet& timings, Findings& findings);

}  // namespace tiersim::detail
