#include "kernels/cases/early_exit_fill.cuh"

#include "kernels/cases/early_exit.hpp"

namespace tiersim::kernels {
namespace {

template <class Fill>
void add_fill(CaseList& cases, const std::string& model, const FillPlan& plan) {
  cases.push_back({"early_exit.kv_fill." + Fill::name() + "." + model + "-l" +
                       std::to_string(plan.layers) + "-b" + std::to_string(plan.tokens),
                   [plan] { return std::make_unique<FillCase<Fill>>(plan); }, true});
}

// The default kernel for this many tokens comes first. Between 8 and 64 tokens both run, to find
// the crossover.
void add_fill_of(CaseList& cases, const std::string& model, const FillPlan& plan) {
  if (plan.tokens > 64) add_fill<WideFill<64, 128>>(cases, model, plan);
  if (plan.tokens > 32 && plan.tokens <= 64) add_fill<WideFill<64, 64>>(cases, model, plan);
  if (plan.tokens <= 8) add_fill<SkinnyFill<1>>(cases, model, plan);
  if (plan.tokens > 8 && plan.tokens <= 16) add_fill<SkinnyFill<2>>(cases, model, plan);
  if (plan.tokens > 16 && plan.tokens <= 64) add_fill<SkinnyFill<4>>(cases, model, plan);
  if (plan.tokens > 8 && plan.tokens <= 32) add_fill<WideFill<64, 32>>(cases, model, plan);
}

}  // namespace

void add_early_exit_fill_cases(CaseList& cases, Sizes sizes) {
  if (sizes == Sizes::toy) {
    const FillPlan toy = {.layers = 2, .heads = 1, .depth = 96, .tokens = 5, .capacity = 3};
    add_fill<SkinnyFill<1>>(cases, "toy", toy);
    add_fill<WideFill<64, 8>>(cases, "toy", toy);
    return;
  }
  for (const std::int64_t tokens : {1, 8, 32, 64, 256}) {
    for (const std::int64_t layers : {1, 6, 11}) {
      add_fill_of(cases, "t5-base",
                  {.layers = layers, .heads = 12, .depth = 768, .tokens = tokens});
    }
    add_fill_of(cases, "t5-small", {.layers = 6, .heads = 6, .depth = 512, .tokens = tokens});
  }
  // More than a gigabyte of weights.
  add_fill_of(cases, "t5-base",
              {.layers = 480, .heads = 12, .depth = 768, .tokens = 8, .capacity = 2});
}

}  // namespace tiersim::kernels
