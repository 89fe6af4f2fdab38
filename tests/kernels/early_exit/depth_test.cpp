#include <gtest/gtest.h>

#include "kernels/cases/early_exit_depth.cuh"
#include "tests/kernels/support/emulated_case.hpp"

namespace tiersim::kernels::depth_test {
namespace {

template <bool InGraph>
MakeCase depth(std::int64_t exit) {
  return [exit] {
    return std::make_unique<DepthCase<InGraph, 1>>(
        DepthPlan{.layers = 4, .exit = exit, .rows = 5, .depth = 64});
  };
}

TEST(Depth, IsWhereTheBatchLeavesByTheGraph) {
  expect_right_and_counted(depth<true>(1));
  expect_right_and_counted(depth<true>(3));
  expect_right_and_counted(depth<true>(4));
}

TEST(Depth, IsWhereTheBatchLeavesByTheHost) {
  expect_right_and_counted(depth<false>(1));
  expect_right_and_counted(depth<false>(3));
  expect_right_and_counted(depth<false>(4));
}

}  // namespace
}  // namespace tiersim::kernels::depth_test
