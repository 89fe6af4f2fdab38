#include "kernels/campaign/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "kernels/campaign/ceiling_peaks.hpp"
#include "tests/kernels/campaign/sample_document.hpp"

namespace tiersim::kernels::bench::summary_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class SummaryTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& stage, const Json& document) {
    std::ofstream(folder_ / (stage + ".json")) << document.dump();
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("summary_test_" + std::to_string(getpid()));
};

TEST_F(SummaryTest, SaysWhatHasNotRun) {
  EXPECT_THAT(summary(folder_), HasSubstr("timing: has not run"));
}

// 3 GB at the data sheet's 4.8 TB/s are 625 us, 62.5 % of the 1 ms that were measured.
TEST_F(SummaryTest, SetsTimesBesideTheirFloors) {
  write("timing", sample_timings());
  const std::string text = summary(folder_);
  EXPECT_THAT(text, HasSubstr("625.000    1000.000    62%"));
  EXPECT_THAT(text, HasSubstr("3995: 75 % / 88-92 %"));
  EXPECT_THAT(text, Not(HasSubstr("dry run")));
}

TEST_F(SummaryTest, SaysThatADryRunMeasuresNothing) {
  Json document = sample_timings();
  document.set("context", Json(document.at("context")).set("class", "none"));
  write("timing", document);
  EXPECT_THAT(summary(folder_), HasSubstr("a dry run: no time here is a measurement"));
}

TEST_F(SummaryTest, ListsWhatWasRefused) {
  Json document = sample_checks();
  document.set("refused", Json::Array{Json::Object{{"name", "a.b"}, {"reason", "too slow"}}});
  write("correctness", document);
  const std::string text = summary(folder_);
  EXPECT_THAT(text, HasSubstr("1 of 1 agree"));
  EXPECT_THAT(text, HasSubstr("refused a.b: too slow"));
}

Json ceilings(double nanoseconds) {
  Timing timing = sample_timing(0);
  timing.info.kernel = "read_sum";
  timing.points = {{1, {nanoseconds}}, {2, {2 * nanoseconds}}};
  return Json::Object{{"schema", kTimingsSchema},
                      {"context", sample_context("ceilings")},
                      {"benchmarks", Json::Array{to_json(timing)}},
                      {"refused", Json::Array{}}};
}

TEST_F(SummaryTest, ShowsTheDriftOfTheCeilings) {
  write("ceilings", ceilings(1e6));
  write("ceilings_again", ceilings(0.8e6));  // a quarter faster
  EXPECT_THAT(summary(folder_), HasSubstr("memory      +25.00 %"));
}

TEST(CeilingPeaks, AreTheBestRatesAndSoft) {
  const Peaks peaks = measured_ceilings(ceilings(1e6));
  ASSERT_EQ(peaks.size(), 1U);
  EXPECT_EQ(peaks[0].name, "memory");
  EXPECT_DOUBLE_EQ(peaks[0].value, 3e12);
  EXPECT_FALSE(peaks[0].hard);
  EXPECT_THAT(measured_ceilings(Json()), IsEmpty());
}

}  // namespace
}  // namespace tiersim::kernels::bench::summary_test
