#pragma once
// Common parts of the trace readers: lines, numbers and mistakes.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/serving/trace_file.hpp"

namespace tiersim {

/// A line of a trace without its end; numbers count from 1.
struct TraceLine {
  std::int32_t number = 1;
  std::string_view text;
};

/// A request with the values of its line.
struct RecordedRequest {
  Int128 time = 0;  ///< picoseconds after the origin of the file's times
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
};

class TraceBuilder {
 public:
  /// `file`: its name in messages.
  explicit TraceBuilder(std::string file) : file_(std::move(file)) {}

  /// Calls `call` with every line except an empty last one. An empty line elsewhere is a mistake.
  void each_line(std::string_view text, const std::function<void(const TraceLine&)>& call);

  /// A number of tokens, from 1 to kMostTokens; any other text is reported under the name of its
  /// column.
  std::int64_t tokens(const TraceLine& line, std::string_view column, std::string_view text);
  /// Reports a mistake in this line.
  void report(const TraceLine& line, const std::string& message, std::string hint = {});

  void add(const TraceLine& line, const RecordedRequest& request,
           std::span<const std::uint32_t> prefix = {});

  /// The trace, or the first 20 mistakes and the number of further ones.
  Expected<RequestTrace, TraceProblems> finish() &&;

 private:
  std::string file_;
  RequestTrace trace_;
  std::vector<Int128> times_;  // times of the requests in the order added
  TraceProblems problems_;
  std::size_t mistakes_ = 0;
};

/// A part of a line for a message: quoted, and shortened to a readable length.
std::string in_quotes(std::string_view text);

}  // namespace tiersim
