#pragma once
// Parts common to the summaries: quantities as text, partitions with bars, and the classes of the
// numbers.
#include <cstdint>
#include <string>
#include <vector>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// Three digits and a unit; "-" for 0.
std::string time_text(double seconds);
std::string bytes_text(std::int64_t bytes);
/// "12.5 %"; "-" for 0. A share that rounds to 0 is marked as not 0.
std::string share_text(double share);
/// Four digits, without an exponent for numbers of usual size.
std::string number_text(double value);

/// A table of shares of their sum, with bars; entries of 0 are left out. Empty where all are 0.
std::string shares_text(const std::string& title, const std::string& column,
                        const std::vector<TimeShare>& shares);

/// "numbers that the times depend on: 3 measured, ...", and the meaning of the intervals.
std::string trust_line(const RunRecord& record);

}  // namespace tiersim
