#include <gtest/gtest.h>

#include <set>

#include "kernels/cases/sparse_offload.hpp"
#include "tests/kernels/support/emulated_case.hpp"

namespace tiersim::kernels::cases_test {
namespace {

TEST(SparseOffloadCases, ToysAreRight) {
  CaseList cases;
  add_sparse_offload_cases(cases, Sizes::toy);
  for (const CaseEntry& entry : cases) {
    SCOPED_TRACE(entry.name);
    expect_right_under(entry.make, {});
  }
}

TEST(SparseOffloadCases, HaveNamesThatSortAndFitACard) {
  for (const Sizes sizes : {Sizes::toy, Sizes::timed}) {
    CaseList cases;
    add_sparse_offload_cases(cases, sizes);
    std::set<std::string> names;
    for (const CaseEntry& entry : cases) {
      EXPECT_TRUE(names.insert(entry.name).second) << entry.name << " stands twice";
      EXPECT_EQ(entry.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-"),
                std::string::npos)
          << entry.name;
      EXPECT_EQ(entry.name.substr(0, entry.name.find('.')), entry.make()->info().family);
      EXPECT_LE(entry.make()->set_bytes(), std::int64_t{8} << 30) << entry.name;
    }
  }
}

}  // namespace
}  // namespace tiersim::kernels::cases_test
