#include "workloads/trace/index_trace.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/base/units.hpp"
#include "workloads/trace/stack_distance.hpp"

namespace tiersim::index_trace_test {
namespace {

// After step 0 the stack is 2 1: 2 is found at distance 1, 3 is new. After step 1 it is 3 2 1: 1 is
// found at 3, and 3 at 1, both before either moves.
constexpr const char* kSmall = "context 10\n1 2\n2 3  # two\n\n1 3\n";

TEST(IndexTrace, GivesTheHitRateOfEverySize) {
  const auto trace = parse_index_trace(kSmall);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->context, 10);
  EXPECT_EQ(trace->groups.front().size(), 3U);
  const ReuseCounts counts = count_reuse(*trace);
  EXPECT_EQ(counts.looked_up, 4);
  EXPECT_EQ(counts.hit_rate(0), 0.0);
  EXPECT_EQ(counts.hit_rate(1), 0.5);
  EXPECT_EQ(counts.hit_rate(2), 0.5);
  EXPECT_EQ(counts.hit_rate(3), 0.75);
  EXPECT_EQ(counts.hit_rate(1000), 0.75);
}

TEST(IndexTrace, BecomesACurveFromNothingToAll) {
  const auto yaml = import_index_trace("t.txt", kSmall);
  ASSERT_TRUE(yaml);
  EXPECT_TRUE(yaml->starts_with(
      "reuse:\n  - {share: 0, rows: 0, hit_rate: 0}\n  - {share: 0.01, rows: 1, hit_rate: 0.5"));
  EXPECT_NE(yaml->find("{share: 0.2, rows: 2, hit_rate: 0.5}"), std::string::npos);
  EXPECT_NE(yaml->find("{share: 0.3, rows: 3, hit_rate: 0.75}"), std::string::npos);
  EXPECT_NE(yaml->find("{share: 1, rows: 10, hit_rate: 0.75}"), std::string::npos);
}

TEST(IndexTrace, KeepsTheGroupsApart) {
  const auto trace = parse_index_trace("context 4\ngroups 2\n0\n1\n1\n0\n");
  ASSERT_TRUE(trace);
  EXPECT_EQ(count_reuse(*trace).looked_up, 2);
  EXPECT_EQ(count_reuse(*trace).hit_rate(4), 0.0);
}

// Caches of every size, simulated one by one as a list in order of use.
std::int64_t found_by(std::size_t capacity, const std::vector<std::vector<std::int64_t>>& steps) {
  std::vector<std::int64_t> newest_first;
  std::int64_t found = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i > 0)
      for (const std::int64_t row : steps[i]) found += std::ranges::count(newest_first, row);
    for (const std::int64_t row : steps[i]) {
      std::erase(newest_first, row);
      newest_first.insert(newest_first.begin(), row);
    }
    if (newest_first.size() > capacity) newest_first.resize(capacity);
  }
  return found;
}

TEST(StackDistances, AreThoseOfCachesSimulatedOneByOne) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Rng rng(seed, "stack_distances");
    IndexTrace trace{.context = 1 + static_cast<std::int64_t>(rng.below(40)), .groups = {{}}};
    for (std::uint64_t steps = 2 + rng.below(20); steps > 0; --steps) {
      std::vector<std::int64_t> step;
      for (std::int64_t row = 0; row < trace.context; ++row)
        if (rng.below(4) == 0) step.push_back(row);
      for (std::size_t i = step.size(); i > 1; --i) std::swap(step[i - 1], step[rng.below(i)]);
      trace.groups.front().push_back(step);
    }
    const ReuseCounts counts = count_reuse(trace);
    for (std::int64_t rows = 0; rows <= trace.context; ++rows) {
      const std::int64_t found = found_by(static_cast<std::size_t>(rows), trace.groups.front());
      const double expected = counts.looked_up == 0 ? 0.0
                                                    : static_cast<double>(found) /
                                                          static_cast<double>(counts.looked_up);
      ASSERT_EQ(counts.hit_rate(rows), expected) << "seed " << seed << ", " << rows << " rows";
    }
  }
}

std::string told(const std::string& text) {
  const auto result = import_index_trace("t.txt", text);
  if (result) return "accepted";
  std::string out;
  for (const ImportProblem& p : result.error()) out += p.message + " (" + p.hint + ")\n";
  return out;
}

TEST(IndexTrace, NamesEveryMistakeWithItsLine) {
  EXPECT_EQ(told("1 2\ncontext 10\n1 2\n3 10\n-1\n1 1\n1 x\ncontext 3\n"),
            "line 1: stands before the context (begin with a line such as 'context 4096')\n"
            "line 4: '10' is no position of a context of 10 (positions are whole numbers from 0 to "
            "9)\n"
            "line 5: '-1' is no position of a context of 10 (positions are whole numbers from 0 to "
            "9)\n"
            "line 6: position 1 stands twice (a step chooses a row once)\n"
            "line 7: 'x' is no position of a context of 10 (positions are whole numbers from 0 to "
            "9)\n"
            "line 8: 'context' stands among the steps ()\n");
  EXPECT_EQ(told("context 0\n"),
            "line 1: 'context' needs one whole number from 1 to 100000000 ()\n");
  EXPECT_EQ(told("context 5\ncontext 5\n"), "line 2: 'context' is given twice ()\n");
  EXPECT_EQ(told("context 5\ngroups 2\n1\n2\n3\n"),
            "has 3 lines of positions for 2 groups (give every group a line for each of two steps "
            "or more)\n");
  EXPECT_EQ(told("context 5\n1\n"),
            "has 1 lines of positions for 1 groups (give every group a line for each of two steps "
            "or more)\n");
  EXPECT_EQ(told(""),
            "has 0 lines of positions for 1 groups (give every group a line for each of two steps "
            "or more)\n");
}

// The rule in the head of the file.
TEST(ShippedTrace, IsWhatItsRuleMakes) {
  std::ostringstream text;
  text << std::ifstream(std::string(TIERSIM_SOURCE_DIR) + "/configs/traces/synthetic_1024.txt")
              .rdbuf();
  const auto trace = parse_index_trace(text.str());
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->groups.size(), 2U);
  std::uint64_t x = 1;
  const auto draw = [&x] {
    x = x * 6364136223846793005U + 1442695040888963407U;
    return x >> 33U;
  };
  std::vector<std::vector<std::int64_t>> last(2);
  for (std::size_t step = 0; step < trace->groups.front().size(); ++step)
    for (std::size_t group = 0; group < 2; ++group) {
      std::vector<std::int64_t> rows;
      for (const std::int64_t row : last[group])
        if (draw() % 10 < 6) rows.push_back(row);
      while (rows.size() < 32) {
        const UInt128 drawn = draw();
        const auto row = static_cast<std::int64_t>((drawn * drawn * drawn * 1024U) >> 93U);
        if (std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
      }
      std::ranges::sort(rows);
      last[group] = rows;
      ASSERT_EQ(trace->groups[group][step], rows) << "step " << step << ", group " << group;
    }
}

}  // namespace
}  // namespace tiersim::index_trace_test
