#include <algorithm>

#include "tests/fuzz/readers/readers.hpp"
#include "workloads/early_exit/depth_trace.hpp"
#include "workloads/llm/expert_load_config.hpp"
#include "workloads/serving/trace_file.hpp"
#include "workloads/serving/trace_lines.hpp"
#include "workloads/trace/index_trace.hpp"

namespace tiersim::fuzz {
namespace {

void expect_words(const std::vector<ImportProblem>& problems) {
  promise(!problems.empty(), "refused without a reason");
  for (const ImportProblem& problem : problems) promise(!problem.message.empty(), "no words");
}

void expect_in_order(const RequestTrace& trace) {
  SimTime before{};
  for (const TraceRequest& request : trace.requests) {
    promise(request.arrival >= before, "a request before the one before it");
    promise(request.input_tokens > 0 && request.output_tokens > 0, "a request without tokens");
    (void)trace.prefix(request);
    before = request.arrival;
  }
}

void read_requests(std::string_view text, const std::optional<TraceFormat>& format) {
  if (const auto requests = parse_request_trace("trace", TraceLines::of_text(text), format))
    expect_in_order(*requests);
  else
    expect_words(requests.error());
}

}  // namespace

void read_traces(std::string_view text) {
  read_requests(text, {});
  const std::string copy(text);
  if (const auto chosen = import_index_trace("trace", copy); !chosen) expect_words(chosen.error());
  if (const auto depths = import_depth_trace("trace", copy); !depths) expect_words(depths.error());
  if (const auto counts = import_expert_counts("trace", copy); !counts)
    expect_words(counts.error());
}

// The first line is the unit of the times; without a known one the reader finds it out.
void read_own_traces(std::string_view text) {
  TraceFormat format{.columns = {.arrival = "at", .input = "in", .output = "out"}};
  const std::size_t end = std::min(text.find('\n'), text.size());
  const auto unit = std::ranges::find(kTraceTimeNames, text.substr(0, end));
  if (unit != kTraceTimeNames.end())
    format.time = static_cast<TraceTime>(unit - kTraceTimeNames.begin());
  read_requests(text.substr(std::min(end + 1, text.size())), format);
}

}  // namespace tiersim::fuzz
