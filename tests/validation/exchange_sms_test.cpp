// SMs that products leave to the exchange of tokens between experts.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/step/simulate.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::exchange_sms_test {
namespace {

// A few layers, since all are alike.
Simulation prompts(std::vector<std::string> set = {}) {
  set.insert(set.end(), {"model.layers=5", "step.batch=64"});
  auto sim = simulate(testing::scenario("scenarios/fabric/deepseek_v3_prefill_ep32_h100.yaml", set),
                      Evaluation::times);
  EXPECT_TRUE(sim) << sim.error();
  return *std::move(sim);
}

TEST(ExchangeSms, AreLeftByProductsAlone) {
  const Simulation sim = prompts();
  std::size_t products = 0;
  for (const Op& op : sim.graph.ops) {
    const bool product = op.family == KernelFamily::gemm || op.family == KernelFamily::experts;
    EXPECT_EQ(op.sm_share, product ? 112.0 / 132 : 1) << describe_op(op);
    products += product && op.kind == OpKind::compute ? 1 : 0;
  }
  EXPECT_GT(products, 0U);
  const Simulation without = prompts({"execution.exchange_sms=~"});
  EXPECT_TRUE(
      std::ranges::all_of(without.graph.ops, [](const Op& op) { return op.sm_share == 1; }));
  // At most all arithmetic takes longer by the share of the SMs that is left.
  EXPECT_GT(sim.execution.time, without.execution.time);
  EXPECT_LT(sim.execution.time * 112, without.execution.time * 132);
}

}  // namespace
}  // namespace tiersim::exchange_sms_test
