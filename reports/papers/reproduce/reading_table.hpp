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
    {"pass", "simulated as printed, to the printed digits"},
    {"rule", "the printed value contradicts the paper's own numbers; what its rule gives is met"},
    {"shape", "what a figure shows, or must be so, holds"},
    {"explained", "conditions that the paper leaves out, declared beforehand, come near"},
    {"unexplained", "no declared conditions come near; nothing is held to it"},
    {"input", "a free parameter is set by it"},
    {"prediction", "simulated from the inputs, and near"},
    {"consistency", "follows from other printed numbers"},
    {"fail", "missed"},
}};

/// Number of results by status, without zeros.
std::map<std::string, std::size_t> status_counts(const std::vector<TargetResult>& results);

}  // namespace tiersim
