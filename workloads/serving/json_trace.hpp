#pragma once
// Traces whose lines are JSON objects with several requests each.
#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>

#include "workloads/serving/trace_form.hpp"

namespace tiersim {

class JsonTrace : public TraceForm {
 public:
  using TraceForm::TraceForm;

  bool read(const TraceLine& line, RecordedRequest& out) final;
  bool more(RecordedRequest& out) final;
  std::int64_t left_out() const final { return left_out_; }

 protected:
  /// True where a line of JSON has this key, at any depth.
  static bool has_key(std::string_view line, std::string_view key);

  /// Reads a line into `requests_`; false where it has a mistake, which is reported.
  virtual bool read_object(const TraceLine& line) = 0;
  /// Runs `parse`, which parses the line; false where the line is no JSON, which is reported with
  /// the hint.
  bool parsed(const TraceLine& line, std::string_view hint, const std::function<void()>& parse);

  std::deque<RecordedRequest> requests_;  ///< of the last line, in the order of their arrival
  std::int64_t left_out_ = 0;
};

}  // namespace tiersim
