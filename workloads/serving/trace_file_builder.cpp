#include "workloads/serving/trace_file_builder.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "workloads/serving/workload_config.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kProblemsMost = 20;

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 40;
  const bool whole = text.size() <= kMost;
  return '\'' + printable(text.substr(0, kMost)) + (whole ? "'" : "...'");
}

void TraceBuilder::each_line(std::string_view text,
                             const std::function<void(const TraceLine&)>& call) {
  for (std::int32_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    TraceLine line{number, text.substr(0, end)};
    if (line.text.ends_with('\r')) line.text.remove_suffix(1);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.text.empty())
      call(line);
    else if (!text.empty())
      report(line, "is empty", "take it out");
  }
}

std::int64_t TraceBuilder::tokens(const TraceLine& line, std::string_view column,
                                  std::string_view text) {
  std::int64_t value = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && stop == text.data() + text.size();
  if (whole && value >= 1 && value <= kMostTokens) return value;
  report(line, fmt::format("{} is {}", column, in_quotes(text)),
         whole && value == 0 ? "a request has a token in and one out at least; take the line out"
                             : fmt::format("it is a whole number from 1 to {}", kMostTokens));
  return 0;
}

void TraceBuilder::report(const TraceLine& line, const std::string& message, std::string hint) {
  if (++mistakes_ <= kProblemsMost)
    problems_.push_back({fmt::format("{}:{}: {}", file_, line.number, message), std::move(hint)});
}

void TraceBuilder::add(const TraceLine& line, const RecordedRequest& request,
                       std::span<const std::uint32_t> prefix) {
  times_.push_back(request.time);
  trace_.requests.push_back({.input_tokens = static_cast<std::int32_t>(request.input_tokens),
                             .output_tokens = static_cast<std::int32_t>(request.output_tokens),
                             .line = line.number,
                             .prefix_size = static_cast<std::int32_t>(prefix.size()),
                             .prefix_begin = trace_.names.size()});
  trace_.names.insert(trace_.names.end(), prefix.begin(), prefix.end());
}

Expected<RequestTrace, TraceProblems> TraceBuilder::finish() && {
  if (mistakes_ == 0 && times_.empty()) report({}, "there is no request");
  if (mistakes_ == 0) {
    const auto [first, last] = std::ranges::minmax_element(times_);
    if (*last - *first > std::numeric_limits<std::int64_t>::max())
      report({trace_.requests[static_cast<std::size_t>(last - times_.begin())].line, ""},
             "comes more than 106 days after the first request",
             "simulated time ends there; cut the trace");
    else
      for (std::size_t i = 0; i < times_.size(); ++i)
        trace_.requests[i].arrival =
            SimTime(Duration(static_cast<std::int64_t>(times_[i] - *first)));
  }
  if (mistakes_ > problems_.size())
    problems_.push_back({fmt::format("{}: {} more mistakes", file_, mistakes_ - problems_.size())});
  if (mistakes_ > 0) return Unexpected(std::move(problems_));
  std::ranges::stable_sort(trace_.requests, {}, &TraceRequest::arrival);
  return std::move(trace_);
}

}  // namespace tiersim
