// The command line of `campaign`, which kernels/campaign.sh calls for each stage.
#pragma once
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/campaign/plan.hpp"

namespace tiersim::kernels::bench {

// The user's mistake; the text names it.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Options {
  std::string stage;  // correctness, ceilings, ..., or list, summary
  std::filesystem::path out;
  double limit_s = 470;   // of this process
  std::int64_t seed = 1;  // of the inputs; the order is shuffled by seed and process
  int process = 0;        // of processes, one after another
  int processes = 1;
  std::string filter;         // only cases whose name contains it
  bool toy = false;           // toy sizes on the card; always so on the emulator
  bool keep_refused = false;  // do not try refused cases again
  double case_limit_s = 150;  // a case that takes longer is taken to hang: the process ends
  SampleLimits limits;
  std::filesystem::path lines;  // output of `conformance --compare`
  std::string predictions;      // file; empty: no predictions
  bool no_predictions = false;
  std::string commit = "unknown", build_id = "unknown", compiler, nvcc;
};

// Throws UsageError.
Options parse_options(const std::vector<std::string>& arguments);

}  // namespace tiersim::kernels::bench
