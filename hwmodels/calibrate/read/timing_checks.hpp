#pragma once
// The rules behind plausibility.hpp, one function each, and the list of their findings.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hwmodels/calibrate/read/plausibility.hpp"

namespace tiersim::detail {

/// Refusals and warnings so far, by case.
class Findings {
 public:
  explicit Findings(const TimingSet& timings) : timings_(timings), refused_(timings.cases.size()) {}

  /// `where`: the place of the number that is wrong; that of the case where empty.
  void refuse(std::size_t index, std::string rule, std::string reason, std::string where = {});
  void warn(std::size_t index, std::string rule, std::string reason);
  void warn_file(std::string rule, std::string reason);
  void note(std::string text) { notes_.push_back(std::move(text)); }
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
  std::vector<std::string> notes_;
};

/// Bound on the false alarms of a file, and the noise of log t where no interval is stated.
inline constexpr double kFalseAlarms = 5e-4;
inline constexpr double kUnstatedNoise = 0.05;
/// Difference between a pair of cases that bytes and FLOPs do not explain.
inline constexpr double kModelMargin = 0.12;

/// Standard deviation of log t, by the interval of a case.
double log_noise(const TimingCase& timing);
/// Number of standard errors that m comparisons exceed, one-sided, with a probability of at most
/// kFalseAlarms.
double standard_errors(std::size_t comparisons);

/// Bytes of an element of an operand type; 0 where not known.
int element_bytes(std::string_view dtype);

/// comparable(): true where the times of cases i and j can be compared. work_ratio(): the largest
/// ratio of a work of i to that of j; infinite where j has none of it.
bool comparable(const TimingCase& i, const TimingCase& j);
double work_ratio(const TimingCase& i, const TimingCase& j);
/// log t_i minus the largest that t_j allows, both without noise; `ratio` is work_ratio(i, j).
double excess(const TimingCase& i, const TimingCase& j, double ratio, double l2_bytes);

/// A mistake in bytes that changes them by a known factor.
struct ByteSlip {
  std::string rule;
  std::string what;
};
/// `factor`: stated bytes over those of the formula; `element`: bytes of an element, 0 where not
/// known. Empty where the factor is that of no known slip.
std::optional<ByteSlip> byte_slip(double factor, int element);

void check_limits(const TimingSet& timings, Findings& findings);
void check_labels(const TimingSet& timings, Findings& findings);
void check_duplicates(const TimingSet& timings, Findings& findings);
void check_work(const TimingSet& timings, Findings& findings);
void check_byte_formulas(const TimingSet& timings, Findings& findings);
void check_neighbours(const TimingSet& timings, Findings& findings);
void check_trend(const TimingSet& timings, Findings& findings);

}  // namespace tiersim::detail
