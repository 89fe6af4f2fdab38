#include "workloads/serving/benchmark_trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/serving/workload_config.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::json;

constexpr double kLongestClock = 1e11;  // a clock since 1970 has fewer
constexpr std::array<const char*, 3> kLists{"input_lens", "output_lens", "start_times"};
constexpr std::string_view kResultHint =
    "a line is the result of a run: {\"input_lens\": [...], \"output_lens\": [...], "
    "\"start_times\": [...]}";

// The texts of answers may be most of a file, so nothing but the lists is kept.
bool is_kept(int depth, Json::parse_event_t event, const Json& value) {
  if (depth != 1 || event != Json::parse_event_t::key) return true;
  return std::ranges::find(kLists, value.get_ref<const std::string&>()) != kLists.end();
}

std::string shown(const Json& value) {
  if (value.is_structured()) return value.is_array() ? "[...]" : "{...}";
  return in_quotes(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

bool BenchmarkTrace::is_one(std::string_view line) {
  return line.starts_with('{') &&
         (has_key(line, "input_lens") || has_key(line, "total_input_tokens"));
}

bool BenchmarkTrace::read_object(const TraceLine& line) {
  Json object;
  if (!parsed(line, kResultHint, [&] { object = Json::parse(line.text, is_kept); })) return false;
  for (const char* const key : kLists) {
    const auto list = object.is_object() ? object.find(key) : object.end();
    if (list != object.end() && list->is_array()) continue;
    report(line, 1,
           list == object.end() ? fmt::format("'{}' is missing", key)
                                : fmt::format("'{}' is {}, and no list", key, shown(*list)),
           "`vllm bench serve --save-result --save-detailed` writes it, and start_times from its "
           "version of 2026 on");
    return false;
  }
  const std::size_t requests = object["input_lens"].size();
  for (const char* const key : kLists)
    if (object[key].size() != requests) {
      report(line, 1,
             fmt::format("'{}' has {} entries, and 'input_lens' {}", key, object[key].size(),
                         requests),
             "the lists have one for each request");
      return false;
    }
  bool fine = true;
  const auto entry = [&](const char* key, std::size_t k, double least, double most, bool whole) {
    const Json& value = object[key][k];
    const bool right = whole ? value.is_number_integer() : value.is_number();
    if (right && value >= least && value <= most) return value.get<double>();
    report(line, 1, fmt::format("{}[{}] is {}", key, k, shown(value)),
           fmt::format("it is a {}number from {} to {:.0f}", whole ? "whole " : "", least, most));
    fine = false;
    return 0.0;
  };
  constexpr auto kMost = static_cast<double>(kMostTokens);
  for (std::size_t k = 0; k < requests; ++k) {
    const double output = entry("output_lens", k, 0, kMost, true);
    if (output == 0) {
      ++left_out_;
      continue;
    }
    const double start = entry("start_times", k, 0, kLongestClock, false);
    const double input = entry("input_lens", k, 1, kMost, true);
    requests_.push_back({.time = Int128(std::llround(start * 1e6)) * Int128{1'000'000},
                         .input_tokens = static_cast<std::int64_t>(input),
                         .output_tokens = static_cast<std::int64_t>(output)});
  }
  if (!fine) return false;
  std::ranges::stable_sort(requests_, {}, &RecordedRequest::time);
  if (requests_.empty()) return true;
  if (last_ && requests_.front().time < *last_) {
    report(line, 1, "begins before the last request of the run above it",
           "runs by another clock are another file");
    return false;
  }
  last_ = requests_.back().time;
  return true;
}

}  // namespace tiersim
