#pragma once
// What the summaries for people have in common: quantities as text, partitions with bars, and how
// far the numbers can be trusted.
#include <cstdint>
#include <string>
#include <vector>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// Three digits and a unit; "-" of nothing.
std::string time_text(double seconds);
std::string bytes_text(std::int64_t bytes);
/// "12.5 %". A share that rounds to nothing is not nothing; "-" of 0.
std::string share_text(double share);
/// Four digits, and no exponent where a person would write none.
std::string number_text(double value);

/// A table of shares of their sum, with bars; what took no time is left out. Empty where nothing
/// took any.
std::string shares_text(const std::string& title, const std::string& column,
                        const std::vector<TimeShare>& shares);

/// "numbers that the times rest on: 3 measured, ...", and what intervals are.
std::string trust_line(const RunRecord& record);

}  // namespace tiersim
