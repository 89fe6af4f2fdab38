// The families of cases of the campaign itself, at toy sizes: correct results, and counts as in
// their formulas.
#include <gtest/gtest.h>

#include <set>

#include "kernels/cases/baselines.hpp"
#include "kernels/cases/ceilings.hpp"
#include "kernels/cases/host_gather.hpp"
#include "tests/kernels/support/emulated_case.hpp"

namespace tiersim::kernels::own_cases_test {
namespace {

CaseList own_cases() {
  CaseList cases;
  add_ceilings_memory_cases(cases, Sizes::toy);
  add_ceilings_link_cases(cases, Sizes::toy);
  add_host_gather_cases(cases, Sizes::toy);
  return cases;
}

TEST(OwnCases, AreRightAndCounted) {
  for (const CaseEntry& entry : own_cases()) {
    SCOPED_TRACE(entry.name);
    // Gathering by the host is not an access of the card.
    if (entry.name.find(".cpu.") != std::string::npos) {
      expect_right_under(entry.make, {});
    } else {
      expect_right_and_counted(entry.make);
    }
  }
}

TEST(OwnCases, HaveNamesThatSort) {
  for (const Sizes sizes : {Sizes::toy, Sizes::timed}) {
    CaseList cases;
    add_ceilings_cases(cases, sizes);
    add_host_gather_cases(cases, sizes);
    add_baselines_cases(cases, sizes);
    std::set<std::string> names;
    for (const CaseEntry& entry : cases) {
      EXPECT_TRUE(names.insert(entry.name).second) << entry.name << " stands twice";
      EXPECT_EQ(entry.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-"),
                std::string::npos)
          << entry.name;
      EXPECT_EQ(entry.name.substr(0, entry.name.find('.')), entry.make()->info().family);
    }
  }
}

TEST(OwnCases, RotateWithinTheMemoryOfACard) {
  CaseList cases;
  add_ceilings_cases(cases, Sizes::timed);
  add_host_gather_cases(cases, Sizes::timed);
  for (const CaseEntry& entry : cases) {
    EXPECT_LE(entry.make()->set_bytes(), std::int64_t{8} << 30) << entry.name;
    EXPECT_GT(entry.make()->set_bytes(), 0) << entry.name;
  }
}

// A wrong row and a lost row are both detected.
TEST(HostGather, NoticesARowThatIsNotThere) {
  const std::unique_ptr<Case> gather = make_host_gather({GatherWay::loads, 32, 20, 10, 1});
  gather->prepare(1, 1);
  EXPECT_FALSE(gather->check(0).holds());  // nothing was fetched: poison
}

}  // namespace
}  // namespace tiersim::kernels::own_cases_test
