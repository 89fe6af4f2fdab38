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
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "workloads/serving/trace_form.hpp"

namespace tiersim {

class BenchmarkTrace final : public TraceForm {
 public:
  using TraceForm::TraceForm;

  /// True for a line that begins a trace of this form.
  static bool is_one(std::string_view line);

  bool read(const TraceLine& line, RecordedRequest& out) override;
  bool more(RecordedRequest& out) override;
  std::int64_t left_out() const override { return left_out_; }

 private:
  std::deque<RecordedRequest> read_;  // of the last line, in the order of arrival
  std::optional<Int128> last_;        // arrival of the last line's last request
  std::int64_t left_out_ = 0;
};

}  // namespace tiersim
