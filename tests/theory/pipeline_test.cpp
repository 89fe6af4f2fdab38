// The stretch of a pipeline against its schedule, pass by pass. Micro-batches pass the stages in
// order and a stage has one at a time, so that pass s of micro-batch i ends at
//   end(i, s) = max(end(i, s - 1), end(i - 1, s)) + 1
// (a flow shop; Huang et al., GPipe, arXiv 1811.06965: m + s - 1 passes in all).
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "workloads/llm/device_step.hpp"

namespace tiersim::pipeline_test {
namespace {

class Schedule {
 public:
  explicit Schedule(std::int64_t stages) : free_(static_cast<std::size_t>(stages), 0) {}

  /// Passes until a micro-batch that is ready then has crossed all stages.
  std::int64_t cross(std::int64_t ready) {
    for (std::int64_t& stage : free_) ready = stage = std::max(ready, stage) + 1;
    return ready;
  }

 private:
  std::vector<std::int64_t> free_;
};

AttentionContext pipeline(StepKind kind, std::int64_t stages, std::int64_t batch) {
  return {.model = {.layers = 100},
          .step = {.kind = kind, .batch = batch},
          .placement = {},
          .parallel = {.pipeline = stages}};
}

TEST(Pipeline, APrefillTakesAsManyPassesAsItsScheduleHas) {
  for (std::int64_t stages = 1; stages < 10; ++stages)
    for (std::int64_t batch = 1; batch < 20; ++batch) {
      const AttentionContext context = pipeline(StepKind::prefill, stages, batch);
      const auto parts = static_cast<std::int64_t>(micro_batches(context).size());
      Schedule schedule(stages);
      std::int64_t end = 0;
      for (std::int64_t i = 0; i < parts; ++i) end = schedule.cross(0);
      EXPECT_DOUBLE_EQ(pipeline_stretch(context) * static_cast<double>(parts),
                       static_cast<double>(end));
    }
}

// A micro-batch starts its next token when its last one is there: so many passes apart, in the long
// run.
TEST(Pipeline, ADecodeStepTakesAsManyPassesAsItsScheduleHas) {
  for (std::int64_t stages = 1; stages < 10; ++stages)
    for (std::int64_t batch = 1; batch < 20; ++batch) {
      const AttentionContext context = pipeline(StepKind::decode, stages, batch);
      const std::size_t parts = micro_batches(context).size();
      Schedule schedule(stages);
      std::vector<std::int64_t> ready(parts, 0);
      std::vector<std::int64_t> before;
      for (int token = 0; token < 5; ++token) {
        before = ready;
        for (std::int64_t& at : ready) at = schedule.cross(at);
      }
      for (std::size_t i = 0; i < parts; ++i)
        EXPECT_DOUBLE_EQ(pipeline_stretch(context) * static_cast<double>(parts),
                         static_cast<double>(ready[i] - before[i]));
    }
}

}  // namespace
}  // namespace tiersim::pipeline_test
