#pragma once
// Traces of requests to a real service, as published:
//
//   azure_trace.hpp      Azure LLM inference 2023: CSV
//   mooncake_trace.hpp   Mooncake: JSON lines, with names of the blocks of each prompt
//
// The first line tells which. Requests are put in the order of arrival, those of one time in the
// order of the file; the earliest arrives at time 0. A line that is not of the form is a mistake of
// the file, and so is a request without a token in or out: a server cannot serve it, and to drop it
// would change the load that the trace stands for, so whoever wants that takes the line out.
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/base/units.hpp"
#include "sim/config/importer.hpp"

namespace tiersim {

/// A request of a trace, made small: a trace is held whole.
struct TraceRequest {
  SimTime arrival{};  ///< after the earliest one
  std::int32_t input_tokens = 1;
  std::int32_t output_tokens = 1;
  std::int32_t line = 0;         ///< in the file, from 1
  std::int32_t prefix_size = 0;  ///< names of the blocks that the prompt starts with
  std::size_t prefix_begin = 0;  ///< in RequestTrace::names
};

struct RequestTrace {
  std::vector<TraceRequest> requests = {};  ///< in the order of arrival
  std::vector<std::uint32_t> names = {};    ///< a name stands for a block and all before it

  std::span<const std::uint32_t> prefix(const TraceRequest& request) const {
    return std::span(names).subspan(request.prefix_begin,
                                    static_cast<std::size_t>(request.prefix_size));
  }
};

using TraceProblems = std::vector<ImportProblem>;

/// `file` is the name in messages, which begin with `file:line:`.
Expected<RequestTrace, TraceProblems> parse_request_trace(const std::string& file,
                                                          std::string_view text);

/// YAML `replay: {requests: {..., source: absolute path}, sha256: ...}`, once all lines are right.
Expected<std::string, TraceProblems> import_request_trace(const std::filesystem::path& path,
                                                          const std::string& text);

}  // namespace tiersim
