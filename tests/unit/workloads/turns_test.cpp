// Two micro-batches whose order on the GPU is worked out by hand.
#include "workloads/llm/turns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tiersim::turns_test {
namespace {

using ::testing::ElementsAre;

// The layer of an operation serves as its name.
class Batches {
 public:
  OpId add(int batch, int name, OpKind kind, OpIds after) {
    batch_of_.push_back(batch);
    return graph_.add({.kind = kind, .layer = name, .flops = {}, .after = std::move(after)});
  }
  StepGraph in_turns() const { return tiersim::in_turns(graph_, batch_of_); }

 private:
  StepGraph graph_;
  std::vector<int> batch_of_;
};

std::vector<int> names(const StepGraph& graph) {
  std::vector<int> out;
  for (const Op& op : graph.ops) out.push_back(op.layer);
  return out;
}

std::vector<int> before(const StepGraph& graph, int name) {
  std::vector<int> out;
  for (const Op& op : graph.ops)
    if (op.layer == name)
      for (const OpId id : op.after) out.push_back(graph.ops[id.index()].layer);
  return out;
}

// Each batch screens, copies and attends: 1, 2, 3 and 11, 12, 13. The copies are in order.
TEST(Turns, AnotherBatchComputesWhileOneWaitsForItsCopy) {
  Batches b;
  const OpId screen = b.add(0, 1, OpKind::compute, {});
  const OpId copy = b.add(0, 2, OpKind::transfer, {screen});
  b.add(0, 3, OpKind::compute, {screen, copy});
  const OpId other = b.add(1, 11, OpKind::compute, {});
  const OpId second = b.add(1, 12, OpKind::transfer, {other, copy});
  b.add(1, 13, OpKind::compute, {other, second});
  const StepGraph graph = b.in_turns();
  EXPECT_THAT(names(graph), ElementsAre(1, 2, 11, 12, 3, 13));
  EXPECT_THAT(before(graph, 11), ElementsAre(1));
  EXPECT_THAT(before(graph, 12), ElementsAre(11, 2));
  EXPECT_THAT(before(graph, 3), ElementsAre(1, 2, 11));
  EXPECT_THAT(before(graph, 13), ElementsAre(11, 12, 3));
}

TEST(Turns, ABatchIsComputedWholeWhereItWaitsForNothing) {
  Batches b;
  const OpId first = b.add(0, 1, OpKind::compute, {});
  const OpId other = b.add(1, 11, OpKind::compute, {});
  b.add(0, 2, OpKind::compute, {first});
  b.add(1, 12, OpKind::compute, {other});
  const StepGraph graph = b.in_turns();
  EXPECT_THAT(names(graph), ElementsAre(1, 2, 11, 12));
  EXPECT_THAT(before(graph, 11), ElementsAre(2));
}

// Nothing waits for a write-back, so it ends no turn.
TEST(Turns, ACopyThatNobodyWaitsForEndsNoTurn) {
  Batches b;
  const OpId first = b.add(0, 1, OpKind::compute, {});
  b.add(0, 2, OpKind::transfer, {first});
  b.add(0, 3, OpKind::compute, {first});
  b.add(1, 11, OpKind::compute, {});
  EXPECT_THAT(names(b.in_turns()), ElementsAre(1, 2, 3, 11));
}

}  // namespace
}  // namespace tiersim::turns_test
