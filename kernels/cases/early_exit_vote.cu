#include "kernels/cases/early_exit_vote.cuh"

#include "kernels/cases/early_exit.hpp"

namespace tiersim::kernels {
namespace {

template <Confidence Measure, int Units>
void add_vote(CaseList& cases, const std::string& model, const VotePlan& plan) {
  const std::string measure = Measure == Confidence::cosine ? "cosine." : "classifier.";
  cases.push_back({"early_exit.residual_vote." + measure + model + "-b" + std::to_string(plan.rows),
                   [plan] { return std::make_unique<VoteCase<Measure, Units>>(plan); }, true});
}

template <int Units>
void add_both(CaseList& cases, const std::string& model, const VotePlan& plan) {
  add_vote<Confidence::cosine, Units>(cases, model, plan);
  add_vote<Confidence::classifier, Units>(cases, model, plan);
}

}  // namespace

void add_early_exit_vote_cases(CaseList& cases, Sizes sizes) {
  if (sizes == Sizes::toy) {
    add_both<1>(cases, "toy", {.rows = 5, .depth = 72});
    return;
  }
  for (const std::int64_t rows : {1, 8, 64, 256}) {
    add_both<3>(cases, "t5-base", {.rows = rows, .depth = 768});
    add_both<2>(cases, "t5-small", {.rows = rows, .depth = 512});
  }
  // Far larger than a decode step, to measure the bandwidth: 64 MB and 1 GB.
  add_both<3>(cases, "t5-base", {.rows = 16384, .depth = 768});
  add_both<3>(cases, "t5-base", {.rows = 229376, .depth = 768});
}

}  // namespace tiersim::kernels
