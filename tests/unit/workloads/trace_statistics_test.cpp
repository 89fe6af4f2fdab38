#include "workloads/serving/trace_statistics.hpp"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace tiersim::trace_statistics_test {
namespace {

class Trace {
 public:
  explicit Trace(const std::string& text) : path_(folder_.path() / "trace.jsonl") {
    std::ofstream(path_, std::ios::binary) << text;
  }
  Expected<TraceStatistics, TraceProblems> statistics(double sampled = 1) const {
    return trace_statistics(path_, {}, sampled);
  }

 private:
  testing::TemporaryFolder folder_;
  std::filesystem::path path_;
};

// Two requests in the first second, none in the second, one in the third, one at 3.5 s.
constexpr const char* kFour =
    R"({"timestamp": 0, "input_length": 1000, "output_length": 10, "hash_ids": [1, 2]})"
    "\n"
    R"({"timestamp": 500, "input_length": 1500, "output_length": 20, "hash_ids": [1, 2, 3]})"
    "\n"
    R"({"timestamp": 2000, "input_length": 500, "output_length": 30, "hash_ids": [9]})"
    "\n"
    R"({"timestamp": 3500, "input_length": 1000, "output_length": 60, "hash_ids": [1, 2]})"
    "\n";

TEST(TraceStatistics, AreThoseCountedByHand) {
  const auto found = Trace(kFour).statistics();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->requests, 4);
  EXPECT_EQ(found->seconds, 3.5);
  // Gaps of .5, 1.5 and 1.5 s: mean 7/6, standard deviation sqrt(1/3).
  EXPECT_NEAR(found->gap_variation, std::sqrt(1.0 / 3) / (7.0 / 6), 1e-12);
  EXPECT_EQ(found->input.mean(), 1000);
  EXPECT_EQ(found->input.quantile(0), 500);
  EXPECT_EQ(found->input.quantile(0.25), 500);
  EXPECT_EQ(found->input.quantile(0.5), 1000);
  EXPECT_EQ(found->input.quantile(0.76), 1500);
  EXPECT_EQ(found->output.quantile(1), 60);
  EXPECT_EQ(found->output.most(), 60);
  // -20, -10, 0 and 30 around a mean of 30.
  EXPECT_NEAR(found->output.variation(), std::sqrt(1400.0 / 3) / 30, 1e-12);
  const WindowCounts& second = found->windows[0];
  EXPECT_EQ(second.windows, 3);  // the last request is in a window that is not full
  EXPECT_EQ(second.most, 2);
  EXPECT_EQ(second.mean, 1);                 // 2, 0, 1
  EXPECT_NEAR(second.dispersion, 1, 1e-12);  // their variance over their mean
  EXPECT_EQ(found->windows[1].windows, 0);
}

TEST(TraceStatistics, CountWhatCachesFindOfPrompts) {
  const auto found = Trace(kFour).statistics();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->with_blocks, 4);
  EXPECT_EQ(found->reuse.lookups(), 8);
  EXPECT_EQ(found->reuse.distinct(), 4);
  EXPECT_EQ(found->reuse.most().rate, 4.0 / 8);
  // Blocks 1 and 2 have distances 1 and 2 at the second prompt. Then 1, 2 and 3 stand above nothing
  // else until 9 comes on top: distances 2 and 3 at the last prompt.
  EXPECT_EQ(found->reuse.at(1).rate, 1.0 / 8);
  EXPECT_EQ(found->reuse.at(2).rate, 3.0 / 8);
  EXPECT_EQ(found->reuse.at(3).rate, 4.0 / 8);
}

TEST(TraceStatistics, DoNotDependOnTheOrderOfLines) {
  std::string text = kFour;
  const std::size_t second = text.find('\n') + 1;
  const auto ordered = Trace(text).statistics();
  const auto mixed = Trace(text.substr(second) + text.substr(0, second)).statistics();
  ASSERT_TRUE(ordered && mixed);
  EXPECT_EQ(mixed->seconds, ordered->seconds);
  EXPECT_EQ(mixed->gap_variation, ordered->gap_variation);
  EXPECT_EQ(mixed->windows[0].most, 2);
  for (std::int64_t blocks = 0; blocks < 6; ++blocks)
    EXPECT_EQ(mixed->reuse.at(blocks).rate, ordered->reuse.at(blocks).rate);
}

TEST(TraceStatistics, OfYearsBetweenTwoRequestsTakeNoTime) {
  const auto found = Trace(R"({"timestamp": 0, "input_length": 1, "output_length": 1})"
                           "\n"
                           R"({"timestamp": 8000000000, "input_length": 1, "output_length": 1})"
                           "\n")
                         .statistics();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->windows[0].windows, 8'000'000);
  EXPECT_EQ(found->windows[0].most, 1);
  EXPECT_EQ(found->with_blocks, 0);
}

TEST(TraceStatistics, NameTheMistakesOfAFile) {
  const auto found =
      Trace("{\"timestamp\": 0, \"input_length\": 0, \"output_length\": 1}\n").statistics();
  ASSERT_FALSE(found);
  ASSERT_EQ(found.error().size(), 1);
  EXPECT_EQ(found.error().front().where->line, 1);
}

}  // namespace
}  // namespace tiersim::trace_statistics_test
