#include "kernels/campaign/stage_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/kernels/campaign/sample_document.hpp"

namespace tiersim::kernels::bench::stage_file_test {
namespace {

class StageFileTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                  ("stage_file_test_" + std::to_string(getpid()) + "_" +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(StageFileTest, KeepsWhatIsFinished) {
  {
    StageFile file(folder_, sample_context("correctness"));
    EXPECT_FALSE(file.has("a"));
    file.add(sample_check("a"));
  }
  StageFile again(folder_, sample_context("correctness"));
  EXPECT_TRUE(again.has("a"));
  EXPECT_FALSE(again.has("b"));
  EXPECT_TRUE(judge(read_stage(folder_, "correctness"), true).holds());
}

TEST_F(StageFileTest, SavesResultsWhenItIsTime) {
  const auto saved = [this] {
    return read_stage(folder_, "correctness").at("benchmarks").array().size();
  };
  {
    StageFile seldom(folder_, sample_context("correctness"), std::chrono::hours(1));
    for (const char* name : {"a", "b"}) {
      seldom.begin(name);
      seldom.add(sample_check(name));
      EXPECT_FALSE(std::filesystem::exists(folder_ / "correctness.json.running"));
    }
    EXPECT_EQ(saved(), 0U);
    seldom.finish();
    EXPECT_EQ(saved(), 2U);
    seldom.add(sample_check("c"));
  }
  EXPECT_EQ(saved(), 3U);
  StageFile always(folder_, sample_context("correctness"), std::chrono::milliseconds(0));
  always.add(sample_check("d"));
  EXPECT_EQ(saved(), 4U);
}

// A full disk is an error, not a message.
TEST_F(StageFileTest, FailsWhereItCannotSave) {
  StageFile file(folder_, sample_context("correctness"), std::chrono::hours(1));
  file.add(sample_check("a"));
  std::filesystem::remove_all(folder_);
  EXPECT_THROW(file.finish(), std::runtime_error);
}

TEST_F(StageFileTest, TriesWhatWasRefusedAgain) {
  StageFile file(folder_, sample_context("correctness"));
  file.refuse("a", "out of time");
  file.refuse("a", "out of memory");
  EXPECT_EQ(file.refusals(), 1U);
  EXPECT_FALSE(file.has("a"));
  file.add(sample_check("a"));
  EXPECT_EQ(file.refusals(), 0U);
}

TEST_F(StageFileTest, RefusesWhatNeverCameBack) {
  {
    const StageFile file(folder_, sample_context("correctness"));
    file.begin("a");
  }
  {
    StageFile again(folder_, sample_context("correctness"));
    EXPECT_TRUE(again.refused("a"));
    again.begin("b");
    again.add(sample_check("b"));
  }
  EXPECT_FALSE(StageFile(folder_, sample_context("correctness")).refused("b"));
}

TEST_F(StageFileTest, NamesTheWayOutOfACorruptFile) {
  std::filesystem::create_directories(folder_);
  for (const char* text : {"{", "{}", R"({"benchmarks": [1], "refused": []})"}) {
    std::ofstream(folder_ / "timing.json") << text;
    try {
      const StageFile stale(folder_, sample_context("timing"));
      ADD_FAILURE() << text;
    } catch (const JsonError& error) {
      EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("timing.json"),
                                                 ::testing::HasSubstr("--fresh")));
    }
  }
}

TEST_F(StageFileTest, RefusesToMixCampaigns) {
  StageFile(folder_, sample_context("correctness")).add(sample_check("a"));
  Json seed = sample_context("correctness");
  seed.set("seed", 2);
  EXPECT_THROW(StageFile(folder_, seed), OtherCampaign);
  Json build = sample_context("correctness");
  build.set("build", Json(build.at("build")).set("id", "124"));
  EXPECT_THROW(StageFile(folder_, build), OtherCampaign);
  Json device = sample_context("correctness");
  device.set("device", Json(device.at("device")).set("name", "NVIDIA H100"));
  EXPECT_THROW(StageFile(folder_, device), OtherCampaign);
  Json kind = sample_context("correctness");
  kind.set("class", "none");
  EXPECT_THROW(StageFile(folder_, kind), OtherCampaign);
}

TEST_F(StageFileTest, NamesAFileThatCannotBeRead) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "timing.json") << "{\"schema\": ";
  EXPECT_THROW(StageFile(folder_, sample_context("timing")), JsonError);
  EXPECT_TRUE(read_stage(folder_, "ceilings").is_null());
}

TEST_F(StageFileTest, KeepsTheCampaignSmall) {
  std::filesystem::create_directories(folder_);
  for (const char* name : {"a", "b", "c", "d"}) std::ofstream(folder_ / name) << "x";
  EXPECT_NO_THROW(check_size(folder_));
  for (const char* name : {"a", "b", "c"}) std::filesystem::resize_file(folder_ / name, 15'999'999);
  EXPECT_NO_THROW(check_size(folder_));
  std::filesystem::resize_file(folder_ / "d", 15'000'000);  // 62 999 997 in all
  EXPECT_THROW(check_size(folder_), std::runtime_error);
  std::filesystem::resize_file(folder_ / "d", 1);
  std::filesystem::resize_file(folder_ / "a", 16'000'001);
  EXPECT_THROW(check_size(folder_), std::runtime_error);
}

}  // namespace
}  // namespace tiersim::kernels::bench::stage_file_test
