#pragma once
// Mooncake trace (kvcache-ai/Mooncake, FAST'25 release; Qin et al.), with a JSON object on each
// line:
//
//   {"timestamp": 27000, "input_length": 1100, "output_length": 52, "hash_ids": [0, 1, 7]}
//
// The values are the milliseconds since the start of the trace, the lengths, and a name for each
// block of 512 tokens of the prompt, the last of which may be shorter. `hash_ids` may be left out:
// such a prompt shares no prefix. A published name stands for a block and all before it. The reader
// does not rely on this: its names are hashes of 64 bits of the id and the name of the block
// before, so that a file of any size needs no table. Two of 10^8 different blocks have the same
// hash with a probability of 3e-4.
//
// AIPerf adds sessions (github.com/ai-dynamo/aiperf, docs/tutorials/agentic-code-generator.md):
//
//   {"session_id": "a", "timestamp": 0.0, "input_length": 1536, "output_length": 320,
//    "hash_ids": [0, 1, 2]}
//   {"session_id": "a", "delay": 2450.3, "input_length": 768, "output_length": 180,
//    "hash_ids": [1000, 1001]}
//
// A later turn has a `delay` after the end of the one before, in milliseconds, and no timestamp; a
// first turn has a timestamp and no delay. Any other line is a mistake.
// Its length and blocks are those that it adds. `group_id` and `is_restart` are not used: the
// blocks say what prompts share.
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "workloads/serving/trace_form.hpp"

namespace tiersim {

class MooncakeTrace final : public TraceForm {
 public:
  explicit MooncakeTrace(TraceMistakes& mistakes);
  ~MooncakeTrace() override;
  bool read(const TraceLine& line, RecordedRequest& out) override;

 private:
  class LineReader;
  bool expect_time_of(const TraceLine& line, bool is_first);
  std::unique_ptr<LineReader> line_;
  std::unordered_map<std::uint64_t, Int128> times_;  // least time of the next turn, by session
};

}  // namespace tiersim
