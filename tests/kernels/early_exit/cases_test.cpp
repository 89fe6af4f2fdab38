#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "kernels/cases/early_exit.hpp"
#include "tests/kernels/support/emulated_case.hpp"

namespace tiersim::kernels::cases_test {
namespace {

TEST(EarlyExitCases, AreRightAtToySizes) {
  CaseList cases;
  add_early_exit_cases(cases, Sizes::toy);
  EXPECT_GE(cases.size(), 6U);
  for (const CaseEntry& entry : cases) {
    SCOPED_TRACE(entry.name);
    expect_right_under(entry.make, {emulator::Order::shuffled, emulator::Landing::mixed, 2});
  }
}

TEST(EarlyExitCases, HaveUniquePlainNames) {
  for (const Sizes sizes : {Sizes::toy, Sizes::timed}) {
    CaseList cases;
    add_early_exit_cases(cases, sizes);
    std::set<std::string> names;
    for (const CaseEntry& entry : cases) {
      EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
      EXPECT_EQ(entry.name.rfind("early_exit.", 0), 0U);
      for (const char c : entry.name) {
        EXPECT_TRUE(std::islower(c) || std::isdigit(c) || c == '_' || c == '.' || c == '-')
            << entry.name;
      }
    }
  }
}

TEST(EarlyExitCases, SayTheirLaunchesAndWorkAtTimedSizes) {
  CaseList cases;
  add_early_exit_cases(cases, Sizes::timed);
  for (const CaseEntry& entry : cases) {
    SCOPED_TRACE(entry.name);
    const std::unique_ptr<Case> subject = entry.make();
    EXPECT_GT(subject->work().read_bytes, 0);
    EXPECT_LE(subject->work().flops, subject->work().issued_flops);
    for (const LaunchUse& use : subject->launches()) {
      EXPECT_GT(use.blocks, 0);
      EXPECT_LE(use.shared_bytes, 227 * 1024);
      EXPECT_NE(use.function, nullptr);
    }
  }
}

// The head of T5-base at one token: 49.4 MB, of which 32128 x 768 x 2 B are the embedding.
TEST(EarlyExitCases, ReadTheEmbeddingOnce) {
  CaseList cases;
  add_early_exit_head_cases(cases, Sizes::timed);
  for (const CaseEntry& entry : cases) {
    if (entry.name != "early_exit.lm_head.rows128.t5-base-b1") continue;
    const Work work = entry.make()->work();
    EXPECT_NEAR(static_cast<double>(work.read_bytes), 32128.0 * 768 * 2, 1e4);
    return;
  }
  FAIL() << "no such case";
}

}  // namespace
}  // namespace tiersim::kernels::cases_test
