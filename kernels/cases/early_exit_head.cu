#include "kernels/cases/early_exit_head.cuh"

#include "kernels/cases/early_exit.hpp"

namespace tiersim::kernels {
namespace {

template <int Rows, int Tokens>
void add_head(CaseList& cases, const std::string& model, const HeadPlan& plan) {
  cases.push_back({"early_exit.lm_head.rows" + std::to_string(Rows) + "." + model + "-b" +
                       std::to_string(plan.tokens),
                   [plan] { return std::make_unique<HeadCase<Rows, Tokens>>(plan); }, true});
}

// The narrowest tile for the batch.
template <int Rows>
void add_head_of(CaseList& cases, const std::string& model, const HeadPlan& plan) {
  if (plan.tokens <= 8) {
    add_head<Rows, 8>(cases, model, plan);
  } else if (plan.tokens <= 16) {
    add_head<Rows, 16>(cases, model, plan);
  } else if (plan.tokens <= 32) {
    add_head<Rows, 32>(cases, model, plan);
  } else if (plan.tokens <= 64) {
    add_head<Rows, 64>(cases, model, plan);
  } else {
    add_head<Rows, 128>(cases, model, plan);
  }
}

}  // namespace

void add_early_exit_head_cases(CaseList& cases, Sizes sizes) {
  if (sizes == Sizes::toy) {
    add_head_of<128>(cases, "toy", {.vocabulary = 300, .tokens = 5, .depth = 72});
    add_head_of<64>(cases, "toy", {.vocabulary = 100, .tokens = 19, .depth = 64});
    return;
  }
  for (const std::int64_t tokens : {1, 8, 16, 32, 64, 128, 256}) {
    add_head_of<128>(cases, "t5-base", {.vocabulary = 32128, .tokens = tokens, .depth = 768});
  }
  for (const std::int64_t tokens : {1, 64, 256}) {
    add_head_of<128>(cases, "t5-small", {.vocabulary = 32128, .tokens = tokens, .depth = 512});
  }
  // The tile for many tokens, to find the crossover
  add_head<256, 64>(cases, "t5-base", {.vocabulary = 32128, .tokens = 64, .depth = 768});
  for (const std::int64_t tokens : {128, 256}) {
    add_head<256, 128>(cases, "t5-base", {.vocabulary = 32128, .tokens = tokens, .depth = 768});
  }
  for (const std::int64_t tokens : {1, 64}) {
    add_head_of<64>(cases, "t5-base", {.vocabulary = 32128, .tokens = tokens, .depth = 768});
  }
  // From launch-bound to more than a gigabyte: vocabularies of other models.
  for (const std::int64_t vocabulary : {1024, 8192, 131072, 786432}) {
    add_head_of<128>(cases, "v" + std::to_string(vocabulary),
                     {.vocabulary = vocabulary, .tokens = 8, .depth = 768});
  }
}

}  // namespace tiersim::kernels
