#include "workloads/serving/azure_trace.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "workloads/serving/trace_time.hpp"

namespace tiersim {
namespace {

// A time such as "2023-11-16 18:17:03.9799600", without a zone.
std::optional<Int128> stamp(std::string_view text) {
  constexpr std::size_t kLongest = 32;  // with 12 decimals
  const auto time = parse_time_stamp(text);
  if (!time || time->zoned || text.size() > kLongest || text[10] != ' ') return std::nullopt;
  return time->time;
}

}  // namespace

bool AzureTrace::read(const TraceLine& line, RecordedRequest& out) {
  if (line.number == 1) return false;
  const auto commas = std::ranges::count(line.text, ',');
  if (commas != 2) {
    report(line, 1, fmt::format("has {} columns", commas + 1),
           fmt::format("there are 3: {}", kAzureHeader));
    return false;
  }
  const std::size_t first = line.text.find(',');
  const std::size_t second = line.text.find(',', first + 1);
  const auto time = stamp(line.text.substr(0, first));
  if (!time)
    report(line, 1, fmt::format("TIMESTAMP is {}", in_quotes(line.text.substr(0, first))),
           "it is a time such as 2023-11-16 18:17:03.9799600");
  out.time = time.value_or(0);
  out.input_tokens =
      tokens(line, first + 2, "ContextTokens", line.text.substr(first + 1, second - first - 1));
  out.output_tokens = tokens(line, second + 2, "GeneratedTokens", line.text.substr(second + 1));
  out.prefix.clear();
  return time && out.input_tokens > 0 && out.output_tokens > 0;
}

}  // namespace tiersim
