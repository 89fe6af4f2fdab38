#pragma once
// Request traces of real services, published ones and the user's own (trace_form.hpp).
//
// Requests come in the order of arrival, those of equal times in the order of the file; the
// earliest arrives at time 0. A line of another form is a mistake of the file, and so is a request
// without an input or output token. A server cannot serve such a request, and to drop it would
// change the load of the trace, so the user must remove the line.
//
// A file whose requests stand in the order of arrival is read as it is replayed, so that a trace of
// any size takes no more memory than its longest line. Any other file is held in memory, about 40
// bytes a request and 8 a block name. A file may be packed by gzip.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/base/units.hpp"
#include "sim/config/importer.hpp"
#include "workloads/serving/request.hpp"
#include "workloads/serving/trace_form.hpp"
#include "workloads/serving/workload_config.hpp"

namespace tiersim {

/// A request of a trace in compact form, for a trace that is held in memory.
struct TraceRequest {
  SimTime arrival{};  ///< after the earliest one
  std::int32_t input_tokens = 1;
  std::int32_t output_tokens = 1;
  std::int64_t line = 0;         ///< number in the file, from 1
  std::int32_t prefix_size = 0;  ///< number of names of the blocks that the prompt starts with
  std::size_t prefix_begin = 0;  ///< first of them in RequestTrace::names
};

struct RequestTrace {
  std::vector<TraceRequest> requests = {};  ///< in the order of arrival
  std::vector<std::uint64_t> names = {};    ///< a name stands for a block and all before it
  bool timed = true;  ///< false: sessions come one after another, since no time is stated

  std::span<const std::uint64_t> prefix(const TraceRequest& request) const {
    return std::span(names).subspan(request.prefix_begin,
                                    static_cast<std::size_t>(request.prefix_size));
  }
};

/// Number of turns of each session, by its key (RecordedRequest::session); for lookup only.
using TracedTurns = std::unordered_map<std::uint64_t, std::int64_t>;

/// What a pass over a whole trace finds.
struct TraceSummary {
  std::int64_t requests = 0;
  std::int64_t sessions = 0;  ///< requests that name none included; 0: no request names one
  TracedTurns turns = {};
  Int128 first = 0;           ///< earliest time, in the file's picoseconds
  bool timed = true;          ///< false: when sessions begin is not stated
  std::int64_t left_out = 0;  ///< requests that are not replayed, since they have no answer
  std::int64_t block = 0;     ///< tokens of a named block; 0: not stated
  bool in_order = true;       ///< the requests, or the first ones of sessions, stand in that order
  std::string digest = {};    ///< SHA-256 of the file's bytes
};

/// Reads a whole trace. `each` gets every request, in the order of the file. The errors are all
/// mistakes of the file, each at its place.
Expected<TraceSummary, TraceProblems> read_trace(
    const std::string& file, TraceLines lines, const std::optional<TraceFormat>& format,
    const std::function<void(const RecordedRequest&)>& each = {});

/// A trace in memory. `file` is the name in messages.
Expected<RequestTrace, TraceProblems> parse_request_trace(
    const std::string& file, TraceLines lines, const std::optional<TraceFormat>& format = {});

/// For Importer::read. YAML `replay: {requests: {..., source: absolute path}, sha256: ...}`, with
/// `format` for a trace of one's own, if all lines are valid.
std::optional<std::string> import_request_trace(const std::filesystem::path& path,
                                                const Node* described, Diagnostics& diagnostics);

/// The requests of a trace as a source, or a message for the user: the file is not that of the
/// configuration any more, or a prompt has more blocks than its length allows. next() throws
/// SourceFailure if the file changes during the run.
/// `starts` are the begins of the sessions of a trace that does not say them; null for any other.
Expected<std::unique_ptr<RequestSource>> make_trace_source(
    const WorkloadConfig& config, std::unique_ptr<RequestSource> starts = nullptr);

}  // namespace tiersim
