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
#include <memory>

#include "workloads/serving/trace_form.hpp"

namespace tiersim {

class MooncakeTrace final : public TraceForm {
 public:
  explicit MooncakeTrace(TraceMistakes& mistakes);
  ~MooncakeTrace() override;
  bool read(const TraceLine& line, RecordedRequest& out) override;

 private:
  class LineReader;
  std::unique_ptr<LineReader> line_;
};

}  // namespace tiersim
