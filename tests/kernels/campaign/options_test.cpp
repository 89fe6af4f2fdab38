#include "kernels/campaign/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tiersim::kernels::bench::options_test {
namespace {

using ::testing::HasSubstr;

std::string mistake(const std::vector<std::string>& arguments) {
  try {
    parse_options(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Options, TakeEveryOption) {
  const Options o = parse_options({"timing",
                                   "--out",
                                   "folder",
                                   "--limit",
                                   "12.5",
                                   "--seed",
                                   "7",
                                   "--process",
                                   "1",
                                   "--processes",
                                   "3",
                                   "--filter",
                                   "dense",
                                   "--rounds",
                                   "5",
                                   "--rounds-least",
                                   "3",
                                   "--nodes",
                                   "4",
                                   "--toy",
                                   "--keep-refused",
                                   "--case-limit",
                                   "9",
                                   "--build-id",
                                   "b",
                                   "--no-predictions"});
  EXPECT_EQ(o.stage, "timing");
  EXPECT_EQ(o.out, "folder");
  EXPECT_EQ(o.limit_s, 12.5);
  EXPECT_EQ(o.seed, 7);
  EXPECT_EQ(o.process, 1);
  EXPECT_EQ(o.processes, 3);
  EXPECT_EQ(o.filter, "dense");
  EXPECT_EQ(o.limits.rounds, 5);
  EXPECT_EQ(o.limits.rounds_least, 3);
  EXPECT_EQ(o.limits.nodes_most, 4);
  EXPECT_EQ(o.case_limit_s, 9);
  EXPECT_EQ(o.build_id, "b");
  EXPECT_TRUE(o.toy && o.keep_refused && o.no_predictions);
}

TEST(Options, SayWhichIsWrong) {
  EXPECT_THAT(mistake({}), HasSubstr("which stage"));
  EXPECT_THAT(mistake({"timing", "--lmit", "1"}), HasSubstr("unknown option '--lmit'"));
  EXPECT_THAT(mistake({"timing", "--limit"}), HasSubstr("--limit wants a value"));
  EXPECT_THAT(mistake({"timing", "--limit", "1s"}), HasSubstr("'1s' is no number"));
  EXPECT_THAT(mistake({"timing", "--limit", "0"}), HasSubstr("at least 1"));
  EXPECT_THAT(mistake({"timing", "--process", "3", "--processes", "3"}),
              HasSubstr("--process counts"));
}

}  // namespace
}  // namespace tiersim::kernels::bench::options_test
