#include "workloads/attention/expected_rows.hpp"

#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"

namespace tiersim::expected_rows_test {
namespace {

TEST(WholeRows, ForgiveTheRoundingOfAShare) {
  EXPECT_GT(0.07 * 100.0, 7.0);
  EXPECT_EQ(whole_up(0.07 * 100.0), 7);
  EXPECT_EQ(whole_up(7.001), 8);
  EXPECT_EQ(whole_up(1e-12), 1);
  EXPECT_LT((1.0 - 0.9) * 10.0, 1.0);
  EXPECT_EQ(whole_down((1.0 - 0.9) * 10.0), 1);
  EXPECT_EQ(whole_down(0.999), 0);
}

TEST(ExpectedUnion, IsExactWhereItIsWhole) {
  EXPECT_EQ(expected_union(64, 16, 2.0), 28);  // 64 (1 - 9/16)
  EXPECT_EQ(expected_union(16, 4, 2.0), 7);    // 16 (1 - 9/16)
  EXPECT_EQ(expected_union(1000, 500, 3.0), 875);
  EXPECT_EQ(expected_union(64, 16, 1.0), 16);
  EXPECT_EQ(expected_union(64, 0, 8.0), 0);
  EXPECT_EQ(expected_union(64, 64, 8.0), 64);
  EXPECT_EQ(expected_union(1, 1, 128.0), 1);
  EXPECT_EQ(expected_union(100'000'000, 99'999'999, 4096.0), 100'000'000);
}

// 2 of 6 rows, pages of 4 and 2: they miss the first with C(2,2)/C(6,2) = 1/15 and the second with
// C(4,2)/15 = 6/15, so that 23/15 are touched.
TEST(ExpectedPages, CountThePartAtTheEnd) {
  EXPECT_EQ(expected_pages(6, 2, 4), 2);
  EXPECT_EQ(expected_pages(6, 6, 4), 2);
  EXPECT_EQ(expected_pages(6, 0, 4), 0);
  EXPECT_EQ(expected_pages(6, 1, 4), 1);
  EXPECT_EQ(expected_pages(6, 5, 1), 5);
  EXPECT_EQ(expected_pages(6, 1, 100), 1);
}

TEST(ExpectedRows, NeverFallWithTheChosenAndStayWithinTheirBounds) {
  for (const std::int64_t rows : {1, 2, 17, 100, 1000, 4099})
    for (const double heads : {1.0, 1.5, 2.0, 4.0, 7.3, 128.0})
      for (std::int64_t chosen = 0, before = 0; chosen <= rows; ++chosen) {
        const std::int64_t now = expected_union(rows, chosen, heads);
        ASSERT_GE(now, before) << rows << ' ' << heads << ' ' << chosen;
        ASSERT_GE(now, chosen);
        ASSERT_LE(now, rows);
        ASSERT_LE(static_cast<double>(now), std::ceil(heads * static_cast<double>(chosen)));
        before = now;
      }
  for (const std::int64_t rows : {1, 2, 17, 100, 1000, 4099})
    for (const std::int64_t page : {1, 2, 3, 16, 64, 5000})
      for (std::int64_t chosen = 0, before = 0; chosen <= rows; ++chosen) {
        const std::int64_t now = expected_pages(rows, chosen, page);
        ASSERT_GE(now, before) << rows << ' ' << page << ' ' << chosen;
        ASSERT_GE(now * page, chosen);
        ASSERT_LE(now, std::min(chosen, (rows + page - 1) / page));
        before = now;
      }
}

// `chosen` different rows of `rows`, by Floyd's method.
std::set<std::int64_t> choose(std::int64_t rows, std::int64_t chosen, Rng& rng) {
  std::set<std::int64_t> out;
  for (std::int64_t last = rows - chosen; last < rows; ++last) {
    const auto drawn = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(last) + 1));
    if (!out.insert(drawn).second) out.insert(last);
  }
  return out;
}

// The indicator of a touched page (or row) has a variance of at most 1/4, and in draws without
// replacement no two are positively correlated. The count over m of them has at most m / 4, and its
// mean over `runs` runs a standard deviation of at most sqrt(m / runs) / 2. Five of these are
// allowed, and 1 for rounding up.
double tolerance(std::int64_t counted, int runs) {
  return 5.0 * std::sqrt(static_cast<double>(counted) / runs) / 2.0;
}

TEST(ExpectedRows, AreTheMeansOfRandomChoices) {
  constexpr std::uint64_t kSeed = 1;
  constexpr int kRuns = 40;
  constexpr std::int64_t kRows = 16'390;  // the last page of 16 has 6
  constexpr std::int64_t kChosen = 1024;
  Rng rng(kSeed, "expected_rows");
  std::int64_t united = 0;
  std::int64_t touched = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::set<std::int64_t> rows;
    for (int head = 0; head < 4; ++head) rows.merge(choose(kRows, kChosen, rng));
    united += static_cast<std::int64_t>(rows.size());
    std::set<std::int64_t> pages;
    for (const std::int64_t row : choose(kRows, kChosen, rng)) pages.insert(row / 16);
    touched += static_cast<std::int64_t>(pages.size());
  }
  const double rows = static_cast<double>(expected_union(kRows, kChosen, 4.0));
  EXPECT_LE(static_cast<double>(united) / kRuns, rows + tolerance(kRows, kRuns)) << kSeed;
  EXPECT_GE(static_cast<double>(united) / kRuns, rows - 1.0 - tolerance(kRows, kRuns)) << kSeed;
  const double pages = static_cast<double>(expected_pages(kRows, kChosen, 16));
  EXPECT_LE(static_cast<double>(touched) / kRuns, pages + tolerance(1025, kRuns)) << kSeed;
  EXPECT_GE(static_cast<double>(touched) / kRuns, pages - 1.0 - tolerance(1025, kRuns)) << kSeed;
}

}  // namespace
}  // namespace tiersim::expected_rows_test
