// Popularity of experts as a server counted it: the file, and what placement makes of it.
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "sim/config/document.hpp"
#include "workloads/importers.hpp"
#include "workloads/llm/expert_balance.hpp"

namespace tiersim::expert_counts_test {
namespace {

using ::testing::HasSubstr;

std::string imported(const std::string& text) {
  const auto yaml = import_expert_counts("counts.json", text);
  return yaml ? *yaml : yaml.error().front().message;
}

TEST(ExpertCounts, AreAListOfLayersAloneOrInAnObject) {
  const std::string layers = "law: counted\nspread: ~\ncounted:\n  - [5, 1]\n  - [2, 0]\n";
  EXPECT_EQ(imported(R"({"model": "x", "logical_count": [[5, 1], [2, 0]]})"), layers);
  EXPECT_EQ(imported("[[5, 1], [2, 0]]"), layers);
  EXPECT_EQ(imported("[[5.0, 1.0], [2.0, 0.0]]"), layers);
}

TEST(ExpertCounts, OfSeveralTimesAreAddedUp) {
  EXPECT_EQ(imported(R"({"logical_count": [[[0, 0], [5, 1]], [[0, 0], [1, 7]]]})"),
            "law: counted\nspread: ~\ncounted:\n  - [0, 0]\n  - [6, 8]\n");
  const auto before = import_placement_counts("counts.json", "[[3, 4]]");
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(*before, "drift: 0\nplaced_by:\n  - [3, 4]\n");
}

TEST(ExpertCounts, MistakesAreNamed) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"experts", "is no JSON"},
      {"{}", "has no `logical_count`"},
      {"[]", "has no `logical_count`"},
      {"7", "has no `logical_count`"},
      {"[1, 2]", "layer 0 is no list of 1 to 4096 counts"},
      {"[[]]", "layer 0 is no list"},
      {"[[1, 2], [3]]", "layer 1 has 1 experts, and another one 2"},
      {"[[1, -2]]", "layer 0, expert 1: no whole number of rows from 0 to 2^53"},
      {"[[1, 2.5]]", "layer 0, expert 1: no whole number"},
      {"[[1, \"2\"]]", "layer 0, expert 1: no whole number"},
      {"[[1, true]]", "layer 0, expert 1: no whole number"},
      {"[[1, null]]", "layer 0, expert 1: no whole number"},
      {"[[[[1]]]]", "layer 0, expert 0: no whole number"},
      {"[1, [[[1]]]]", "layer 0 is no list"},
      {R"({"logical_count": [[1]], "logical_count": [[2]]})", "has `logical_count` twice"},
      {"[[9007199254740993]]", "layer 0, expert 0: no whole number"},
      {"[[[9007199254740992]], [[1]]]", "layer 0, expert 0: no whole number"},
      {"[[[1]], [[1], [2]]]", "has pieces with different numbers of layers"},
      {"[[0, 0]]", "counts no row"}};
  for (const auto& [text, message] : cases)
    EXPECT_THAT(imported(text), HasSubstr("counts.json: " + message)) << text;
}

// 400 KB of brackets: nothing may recurse over them.
TEST(ExpertCounts, OfDeeplyNestedListsAreRefused) {
  const std::string many(200'000, '[');
  const std::string end(200'000, ']');
  EXPECT_THAT(imported(R"({"logical_count": )" + many + '1' + end + '}'),
              HasSubstr("layer 0, expert 0: no whole number"));
  EXPECT_THAT(imported("[1, " + many + '1' + end + ']'), HasSubstr("no list"));
  EXPECT_THAT(imported(many), HasSubstr("is no JSON"));
}

// So many tokens that chance is below a thousandth.
double over_mean(const ExpertLoadConfig& load, ExpertPlacement placement) {
  return expert_balance(
             load,
             {.experts = 4, .top_k = 1, .tokens = 100'000'000, .ranks = 2, .placement = placement})
      .over_mean;
}

TEST(ExpertCounts, LoadTheGpusAsTheyWereCounted) {
  const ExpertLoadConfig load{.law = ExpertLaw::counted, .counted = ExpertCounts{{40, 30, 20, 10}}};
  EXPECT_NEAR(over_mean(load, ExpertPlacement::contiguous), 70.0 / 50, 1e-3);
  EXPECT_NEAR(over_mean(load, ExpertPlacement::balanced), 1, 1e-3);
}

// {0, 1} and {2, 3} have equal rows before, and 70 and 30 now.
TEST(ExpertCounts, OfAnEarlierTimePlaceExperts) {
  const ExpertLoadConfig load{.law = ExpertLaw::counted,
                              .counted = ExpertCounts{{40, 30, 20, 10}},
                              .placed_by = ExpertCounts{{40, 10, 30, 20}}};
  EXPECT_NEAR(over_mean(load, ExpertPlacement::balanced), 70.0 / 50, 1e-3);
}

// A layer without rows has no experts.
TEST(ExpertCounts, OfSeveralLayersGiveTheMean) {
  const ExpertLoadConfig load{
      .law = ExpertLaw::counted,
      .counted = ExpertCounts{{40, 30, 20, 10}, {1, 1, 1, 1}, {0, 0, 0, 0}, {30, 30, 20, 20}}};
  EXPECT_NEAR(over_mean(load, ExpertPlacement::contiguous), (1.4 + 1 + 1.2) / 3, 1e-3);
  const ExpertBalance balance =
      expert_balance(load, {.experts = 4, .top_k = 1, .tokens = 100'000'000, .ranks = 2});
  EXPECT_NEAR(balance.expert_over_mean, (1.6 + 1 + 1.2) / 3, 1e-3);
}

// The counts replace the law of a base file, whose spread would else stand beside them.
TEST(ExpertCounts, LieOverTheLawOfABaseFile) {
  const auto folder = std::filesystem::temp_directory_path() / "tiersim_expert_counts_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "now.json") << R"({"logical_count": [[5, 1], [2, 3]]})";
  std::ofstream(folder / "before.json") << "[[1, 1], [4, 2]]";
  std::ofstream(folder / "base.yaml")
      << "schema: tiersim.load/v1\nlaw: zipf\nspread: 1\ndrift: 0.3\n";
  std::ofstream(folder / "load.yaml") << "schema: tiersim.load/v1\nbase: base.yaml\n"
                                         "expert_counts: now.json\nplacement_counts: before.json\n";
  Diagnostics diagnostics;
  const Document document =
      load_document(folder / "load.yaml", {.importers = make_importers()}, diagnostics);
  const auto config = read<ExpertLoadConfig>(document, "load", diagnostics);
  std::filesystem::remove_all(folder);
  ASSERT_EQ(diagnostics.text(), "");
  EXPECT_EQ(config.law, ExpertLaw::counted);
  EXPECT_FALSE(config.spread.has_value());
  EXPECT_EQ(config.drift, 0);
  EXPECT_EQ(config.counted, (ExpertCounts{{5, 1}, {2, 3}}));
  EXPECT_EQ(config.placed_by, (ExpertCounts{{1, 1}, {4, 2}}));
}

}  // namespace
}  // namespace tiersim::expert_counts_test
