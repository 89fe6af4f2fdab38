#pragma once
// Numbers, times and sizes in the text of timing files. A time without a unit is never accepted.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/expected.hpp"

namespace tiersim {

/// The whole text as a finite decimal number, with '.' as the point in any locale.
std::optional<double> parse_number(std::string_view text);

/// Seconds in a unit: "ns", "us", "ms" or "s".
std::optional<double> seconds_in(std::string_view unit);

/// "12.5 us" in seconds. The error names the value and the expected form.
Expected<double> parse_time(std::string_view text);

/// "64 MiB" or, in columns of bytes, "4096" in bytes.
Expected<double> parse_size(std::string_view text);

/// Like parse_size(), for an L2: a size below 1 MB must have lost its unit.
Expected<double> parse_cache_size(std::string_view text);

/// True for memory, l2, link_read, link_write and flops.<type>.
bool is_peak_name(std::string_view name);

/// "4800 GB/s" or "989 TFLOP/s" per second; the name of the peak decides on the unit.
Expected<double> parse_peak(std::string_view name, std::string_view text);

/// The words between blanks.
std::vector<std::string_view> words(std::string_view text);
std::string_view trimmed(std::string_view text);
/// The lines without their ends ("\n" or "\r\n") and without a byte order mark at the start.
std::vector<std::string_view> lines_of(std::string_view text);

/// Key and value of a line "# key: value"; empty for any other line.
std::optional<std::pair<std::string, std::string>> comment_setting(std::string_view line);

}  // namespace tiersim
