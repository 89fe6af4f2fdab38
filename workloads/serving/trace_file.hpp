#pragma once
// Published request traces of real services:
//
//   azure_trace.hpp      Azure LLM inference 2023: CSV
//   mooncake_trace.hpp   Mooncake: JSON lines, with names of the blocks of each prompt
//
// The first line decides on the form. Requests are sorted by arrival, those of equal times in the
// order of the file; the earliest arrives at time 0. A line of another form is a mistake of the
// file, and so is a request without an input or output token. A server cannot serve such a request,
// and to drop it would change the load of the trace, so the user must remove the line.
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

/// A request of a trace in compact form, since a whole trace is in memory.
struct TraceRequest {
  SimTime arrival{};  ///< after the earliest one
  std::int32_t input_tokens = 1;
  std::int32_t output_tokens = 1;
  std::int32_t line = 0;         ///< number in the file, from 1
  std::int32_t prefix_size = 0;  ///< number of names of the blocks that the prompt starts with
  std::size_t prefix_begin = 0;  ///< first of them in RequestTrace::names
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

/// YAML `replay: {requests: {..., source: absolute path}, sha256: ...}`, if all lines are valid.
Expected<std::string, TraceProblems> import_request_trace(const std::filesystem::path& path,
                                                          const std::string& text);

}  // namespace tiersim
