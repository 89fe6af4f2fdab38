#include "workloads/early_exit/early_exit_config.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "workloads/early_exit/depth_trace.hpp"
#include "workloads/importers.hpp"

namespace tiersim::early_exit_config_test {
namespace {

struct Read {
  EarlyExitConfig config = {};
  std::string mistakes = {};
};

Read read_text(const std::string& yaml) {
  Diagnostics diagnostics;
  const Document document = load_text(yaml, "e", {.importers = make_importers()}, diagnostics);
  auto config = read<EarlyExitConfig>(document, "early_exit", diagnostics);
  return {std::move(config), diagnostics.text()};
}

TEST(EarlyExitConfig, ReadsATechniqueThatMeasures) {
  const Read all = read_text(
      "{technique: state, rule: bucketed, buckets: 3,\n"
      " depths: {exit_rate: 0.565, spread: 2, correlation: 0.5, decay: 0.3}}\n");
  ASSERT_EQ(all.mistakes, "");
  EXPECT_EQ(all.config.technique, ExitTechnique::state);
  EXPECT_EQ(all.config.rule, ExitRule::bucketed);
  EXPECT_EQ(all.config.buckets, 3);
  EXPECT_EQ(all.config.depths->exit_rate, 0.565);
  EXPECT_EQ(all.config.depths->spread, 2);
  EXPECT_TRUE(exit_problems(all.config, 12).empty());
}

TEST(EarlyExitConfig, OfFixedTechniquesHasNoDepthsAndNoRule) {
  EXPECT_EQ(read_text("technique: static_half\n").mistakes, "");
  EXPECT_EQ(read_text("{technique: full, rule: per_sequence, depths: {exit_rate: 0.5}}\n").mistakes,
            "e:1:19: error: rule: has no effect: under full all tokens leave at the same layer "
            "(leave it out, or choose softmax, state or classifier)\n"
            "e:1:39: error: depths: has no effect: under full all tokens leave at the same layer "
            "(leave it out, or choose softmax, state or classifier)\n");
}

TEST(EarlyExitConfig, NeedsToKnowWhereTokensLeave) {
  EXPECT_EQ(read_text("technique: softmax\n").mistakes,
            "e:1:1: error: depths: is missing for softmax (state at least depths.exit_rate, or a "
            "depths.depth_trace)\n");
  EXPECT_EQ(read_text("{technique: softmax, depths: {spread: 2}}\n").mistakes,
            "e:1:22: error: depths.exit_rate: is missing (state the mean share of layers that a "
            "token skips, or give a depth_trace)\n");
}

TEST(EarlyExitConfig, RefusesWhatHasNoEffect) {
  EXPECT_EQ(read_text("{technique: state, buckets: 2, depths: {exit_rate: 0.5}}\n").mistakes,
            "e:1:20: error: buckets: has an effect under the rule bucketed only (leave it out, or "
            "set rule: bucketed)\n");
  EXPECT_EQ(read_text("{technique: state, depths: {traced: [[1]], exit_rate: 0.5}}\n").mistakes,
            "e:1:44: error: depths.exit_rate: stands beside a depth trace (depths are drawn or "
            "come from a file: leave one out)\n");
  EXPECT_EQ(read_text("{technique: state, depths: {traced: [[1]], spread: 2}}\n").mistakes,
            "e:1:29: error: depths.traced: leaves nothing to draw, yet spread, correlation or "
            "decay is set (leave them out)\n");
}

TEST(EarlyExitConfig, ListsEveryValueOutOfItsRange) {
  const std::string mistakes =
      read_text("{technique: state, depths: {exit_rate: 1.5, spread: 0, correlation: -1}}\n")
          .mistakes;
  EXPECT_NE(mistakes.find("depths.exit_rate"), std::string::npos) << mistakes;
  EXPECT_NE(mistakes.find("depths.spread"), std::string::npos) << mistakes;
  EXPECT_NE(mistakes.find("depths.correlation"), std::string::npos) << mistakes;
  const std::string depth =
      read_text("{technique: state, depths: {traced: [[3, 0], []]}}\n").mistakes;
  EXPECT_NE(depth.find("e:1:42"), std::string::npos) << depth;
}

// 8 layers: a token passes one at least, so that 7/8 is the most it can skip.
TEST(EarlyExitConfig, MustFitTheDecoder) {
  EarlyExitConfig config{.technique = ExitTechnique::state, .depths = ExitDepthConfig{}};
  config.depths->exit_rate = 0.875;
  EXPECT_TRUE(exit_problems(config, 8).empty());
  config.depths->exit_rate = 0.876;
  ASSERT_EQ(exit_problems(config, 8).size(), 1U);
  EXPECT_EQ(exit_problems(config, 8).front().path, "depths.exit_rate");
  // The last of 64 steps has 1 - e^(-4 (63.5 / 64)) over 1 - .2454: 1.30 of the mean rate.
  config.depths = ExitDepthConfig{.exit_rate = 0.7, .decay = 1};
  ASSERT_EQ(exit_problems(config, 8).size(), 1U);
  EXPECT_EQ(exit_problems(config, 8).front().path, "depths.decay");
  config.depths->exit_rate = 0.66;
  EXPECT_TRUE(exit_problems(config, 8).empty());
  config.depths = ExitDepthConfig{.traced = {{8, 1}, {9}}};
  ASSERT_EQ(exit_problems(config, 8).size(), 1U);
  EXPECT_EQ(exit_problems(config, 8).front().message,
            "has a depth of 9, but the decoder has 8 layers");
}

TEST(DepthTrace, HasALineForEachRequest) {
  const auto yaml = import_depth_trace("d.txt", "# depths\n6 5  5 4 # request 0\n\n8 8 7\n");
  ASSERT_TRUE(yaml);
  EXPECT_EQ(*yaml, "traced:\n  - [6, 5, 5, 4]\n  - [8, 8, 7]\n");
}

TEST(DepthTrace, SaysEveryMistakeAtItsLine) {
  const auto yaml = import_depth_trace("d.txt", "6 0\n3\nlayer 4\n1001\n2.5\n");
  ASSERT_FALSE(yaml);
  std::vector<std::string> messages;
  for (const ImportProblem& problem : yaml.error()) messages.push_back(problem.message);
  EXPECT_EQ(messages, (std::vector<std::string>{
                          "d.txt:1: '0' is no depth", "d.txt:3: 'layer' is no depth",
                          "d.txt:4: '1001' is no depth", "d.txt:5: '2.5' is no depth"}));
  const auto empty = import_depth_trace("d.txt", "# nothing\n");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().front().message, "d.txt:2: holds no depths");
}

TEST(DepthTrace, LiesUnderTheDepthsOfAConfiguration) {
  const auto folder = std::filesystem::temp_directory_path() / "tiersim_depth_trace_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "d.txt") << "3 2\n1\n";
  std::ofstream(folder / "e.yaml")
      << "schema: tiersim.early_exit/v1\ntechnique: state\ndepths: {depth_trace: d.txt}\n";
  Diagnostics diagnostics;
  const Document document =
      load_document(folder / "e.yaml", {.importers = make_importers()}, diagnostics);
  const auto config = read<EarlyExitConfig>(document, "early_exit", diagnostics);
  std::filesystem::remove_all(folder);
  ASSERT_EQ(diagnostics.text(), "");
  EXPECT_EQ(config.depths->traced, (std::vector<std::vector<std::int64_t>>{{3, 2}, {1}}));
}

}  // namespace
}  // namespace tiersim::early_exit_config_test
