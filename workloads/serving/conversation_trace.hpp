#pragma once
// Conversations of coding agents as WEKA publishes them (github.com/callanjfox/kv-cache-tester,
// traces/), one JSON object for each:
//
//   {"id": "trace_0026", "block_size": 64, "requests": [
//     {"t": 0.0, "in": 15291, "out": 2282, "hash_ids": [1, 2], "api_time": 46.2, "think_time":
//     0.0},
//     {"t": 94.0, "in": 17401, "out": 2905, "hash_ids": [1, 2, 3], "think_time": 48.0},
//     {"type": "subagent", "t": 150.0, "duration_ms": 40000, "requests": [...]}]}
//
// A trace is a file with one object on each line (`awk 1 traces/*.json` makes it of the published
// files). Each conversation is a session. Its prompts name their whole blocks of `block_size`
// tokens; `hash_id_scope` says whether a name counts within its conversation (`local`, the default)
// or in all of them (`global`). Times are seconds after the begin of the conversation, and when
// that was is not stated: `arrivals` of the workload says when sessions begin. Other keys say
// nothing that is simulated.
//
// A turn comes `think_time` after the end of the one before. Where a sub-agent or a request without
// an answer stands between the two, or `think_time` is missing, it comes as long after that end as
// `t` and `api_time` say. A sub-agent is written with the time of its end; the times of its
// requests count from its begin. They follow here one by one where it stands, although some ran
// beside each other. A request without an answer, whose `out` is 0, is left out.
#include <string_view>

#include "workloads/serving/json_trace.hpp"

namespace tiersim {

class ConversationTrace final : public JsonTrace {
 public:
  using JsonTrace::JsonTrace;

  /// True for a line that begins a trace of this form.
  static bool is_one(std::string_view line);

 private:
  class Conversation;

  bool read_object(const TraceLine& line) override;
};

}  // namespace tiersim
