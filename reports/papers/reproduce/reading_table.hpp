#pragma once
// One table of the printed values of a paper: each once, beside the values simulated under the
// paper's assumptions and from first principles, with both statuses and the reasons below.
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "reports/papers/reproduce/paper_report.hpp"

namespace tiersim {

/// Empty where the paper has no table.
Table reading_table(const PaperReport& report);

/// All results of a paper: cells, checks and sections.
std::vector<TargetResult> all_results(const PaperReport& report);

/// Every status with its meaning, in the order of the legend.
struct StatusMeaning {
  const char* status;
  const char* meaning;
};
inline constexpr std::array<StatusMeaning, 9> kStatuses{{
    {"pass", "the simulation gives the printed value, to the printed digits"},
    {"rule",
     "the printed value contradicts the paper's own numbers; the simulation gives the value "
     "of the paper's rule"},
    {"shape", "a statement about a figure, or one that must be true, holds"},
    {"explained", "some conditions that the paper does not state, declared beforehand, come near"},
    {"unexplained", "no declared conditions come near; the value is not a target"},
    {"input", "the value sets a free parameter of the simulation"},
    {"prediction", "the simulation comes near the value from the inputs alone"},
    {"consistency", "the value follows from other printed numbers"},
    {"fail", "the simulation misses the target"},
}};

/// Number of results by status, without zeros.
std::map<std::string, std::size_t> status_counts(const std::vector<TargetResult>& results);

}  // namespace tiersim
