#pragma once
// The requests of a trace in the order of arrival, for what only looks at them.
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "sim/base/expected.hpp"
#include "workloads/serving/trace_file.hpp"

namespace tiersim {

/// `make` makes a taker with add(time in ps, input tokens, output tokens, names of blocks), and the
/// one that got all requests in their order is returned. That is in one pass where they stand in
/// the order of arrival and state their prompts; else from memory. Sessions of a trace that does
/// not say when they begin come one after another. `told`, if given, gets what the file states. The
/// errors are mistakes of the file, each at its place.
template <class Make>
auto in_arrival_order(const std::filesystem::path& path, const std::optional<TraceFormat>& format,
                      Make make, TraceSummary* told = nullptr)
    -> Expected<decltype(make()), TraceProblems> {
  using Result = Expected<decltype(make()), TraceProblems>;
  const std::string file = path.string();
  auto taker = make();
  bool in_order = true;
  bool adds = false;  // a line states what a turn adds, and no prompt
  std::optional<Int128> last;
  const auto summary =
      read_trace(file, TraceLines(path), format, [&](const RecordedRequest& request) {
        adds = adds || request.adds;
        in_order = in_order && (!last || request.time >= *last);
        last = request.time;
        if (in_order)
          taker.add(request.time, request.input_tokens, request.output_tokens, request.prefix);
      });
  if (!summary) return Unexpected(summary.error());
  if (told != nullptr) *told = *summary;
  if (in_order && !adds) return Result(std::move(taker));
  const auto held = parse_request_trace(file, TraceLines(path), format);
  if (!held) return Unexpected(held.error());
  auto sorted = make();
  for (const TraceRequest& request : held->requests)
    sorted.add(Int128(request.arrival.time_since_epoch().count()), request.input_tokens,
               request.output_tokens, held->prefix(request));
  return Result(std::move(sorted));
}

}  // namespace tiersim
