#pragma once
// What the readers of the forms of traces share: lines, numbers and mistakes.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/serving/trace_file.hpp"

namespace tiersim {

/// A line of a trace, from 1, without its end.
struct TraceLine {
  std::int32_t number = 1;
  std::string_view text;
};

/// A request as its line says it.
struct RecordedRequest {
  Int128 time = 0;  ///< picoseconds after whatever the file counts from
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
};

class TraceBuilder {
 public:
  /// `file`: as messages name it.
  explicit TraceBuilder(std::string file) : file_(std::move(file)) {}

  /// Calls with every line but an empty last one. An empty one elsewhere is a mistake.
  void each_line(std::string_view text, const std::function<void(const TraceLine&)>& call);

  /// A number of tokens, from 1 to kMostTokens; reports any other under the name of its column.
  std::int64_t tokens(const TraceLine& line, std::string_view column, std::string_view text);
  /// A mistake in this line.
  void report(const TraceLine& line, const std::string& message, std::string hint = {});

  void add(const TraceLine& line, const RecordedRequest& request,
           std::span<const std::uint32_t> prefix = {});

  /// The trace, or the first 20 mistakes and how many more there are.
  Expected<RequestTrace, TraceProblems> finish() &&;

 private:
  std::string file_;
  RequestTrace trace_;
  std::vector<Int128> times_;  // of the requests as added
  TraceProblems problems_;
  std::size_t mistakes_ = 0;
};

/// A part of a line for a message: in quotes, no longer than a person reads.
std::string in_quotes(std::string_view text);

}  // namespace tiersim
