#pragma once
// The requests of a run of `vllm bench serve`, as its result file has them under --save-detailed
// (vllm/benchmarks/serve.py): one JSON object on a line, with lists that have an entry for each
// request.
//
//   {"input_lens": [512, 498], "output_lens": [64, 0], "start_times": [353399.72, 353400.48]}
//
// A request arrives when it was sent: `start_times` counts seconds from any origin, and the
// client's own queue under --max-concurrency lies before it. Requests that failed have an output of
// 0 tokens and are left out. Earlier versions of the benchmark and those of SGLang write no
// `start_times`, so that their files say no times. Other keys say nothing that is simulated. Runs
// that --append-result wrote follow one another, by the same clock.
#include <optional>
#include <string_view>

#include "workloads/serving/json_trace.hpp"

namespace tiersim {

class BenchmarkTrace final : public JsonTrace {
 public:
  using JsonTrace::JsonTrace;

  /// True for a line that begins a trace of this form.
  static bool is_one(std::string_view line);

 private:
  bool read_object(const TraceLine& line) override;

  std::optional<Int128> last_;  // arrival of the last line's last request
};

}  // namespace tiersim
