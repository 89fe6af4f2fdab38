#pragma once
// Numbers, times and sizes as files of timings write them. A time without a unit is never taken.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/expected.hpp"

namespace tiersim {

/// The whole text as a finite decimal number; a '.' is the point whatever the locale.
std::optional<double> parse_number(std::string_view text);

/// Seconds in "ns", "us", "ms" or "s".
std::optional<double> seconds_in(std::string_view unit);

/// "12.5 us" in seconds. The error names the value and what was wanted.
Expected<double> parse_time(std::string_view text);

/// "64 MiB" or "4096" (bytes, where the name of the column says so) in bytes.
Expected<double> parse_size(std::string_view text);

/// The same of an L2: one below 1 MB has lost its unit.
Expected<double> parse_cache_size(std::string_view text);

/// memory, l2, link_read, link_write or flops.<type>.
bool is_peak_name(std::string_view name);

/// "4800 GB/s" or "989 TFLOP/s" per second, by the name of the peak.
Expected<double> parse_peak(std::string_view name, std::string_view text);

/// Between blanks; runs of them separate once.
std::vector<std::string_view> words(std::string_view text);
std::string_view trimmed(std::string_view text);
/// The lines without their ends ("\n" or "\r\n"), a byte order mark at the start left out.
std::vector<std::string_view> lines_of(std::string_view text);

/// A line "# key: value" as key and value; nothing where it is no such line.
std::optional<std::pair<std::string, std::string>> comment_setting(std::string_view line);

}  // namespace tiersim
