#include "sim/study/recall_run.hpp"

#include "sim/base/check.hpp"
#include "workloads/numerics/recall_at_budget.hpp"

namespace tiersim {
namespace {

using numerics::RecallQuestion;

// The default seed of `numerics`.
constexpr std::uint64_t kRecallSeed = 1;

// The points of `tiersim numerics maple` whose screening is simulated: MAPLE and Quest by budget,
// SparQ and Loki at the budget at which that study compares ranks, H2O and StreamingLLM at the one
// budget at which they are simulated.
std::vector<RecallQuestion> shown() {
  std::vector<RecallQuestion> out;
  for (const double share : {1.0 / 64, 1.0 / 32, 1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2}) {
    out.push_back({.method = "maple", .share = share, .rank_share = 1.0 / 4});
    out.push_back({.method = "quest", .share = share, .page = 16});
  }
  for (const char* method : {"sparq", "loki"})
    out.push_back({.method = method, .share = 1.0 / 8, .rank_share = 1.0 / 4});
  for (const char* method : {"h2o", "streaming_llm"})
    out.push_back({.method = method, .share = 1.0 / 4});
  return out;
}

}  // namespace

std::vector<RecallPoint> recall_points() {
  const std::vector<RecallQuestion> questions = shown();
  const auto answers = numerics::recall_at_budget(questions, kRecallSeed);
  std::vector<RecallPoint> out;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    TS_INVARIANT(answers[i].has_value(), questions[i].method);
    out.push_back({.method = questions[i].method,
                   .setting = answers[i]->setting,
                   .budget = questions[i].share,
                   .recall = answers[i]->recall,
                   .deviation = answers[i]->deviation});
  }
  return out;
}

std::future<std::vector<RecallPoint>> start_recall() {
  return std::async(std::launch::async, recall_points);
}

}  // namespace tiersim
