// Every file of this folder is a configuration with mistakes; beside it stands, word for word, what
// its user is told. tests/unit/config/sample_config.hpp says what the files describe.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "tests/unit/config/sample_config.hpp"

namespace tiersim {
namespace {

namespace fs = std::filesystem;

fs::path folder() {
  return fs::path(TIERSIM_SOURCE_DIR) / "tests" / "bad_configs";
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder()))
    if (entry.path().extension() == ".yaml") out.push_back(entry.path().stem().string());
  std::ranges::sort(out);
  return out;
}

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string told(const fs::path& path) {
  Diagnostics diagnostics;
  const Document document = load_document(path, {}, diagnostics);
  (void)read<sample::Experiment>(document, "experiment", diagnostics);
  std::string text = diagnostics.text();
  const std::string prefix = folder().string() + '/';
  for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;)
    text.erase(at, prefix.size());
  return text;
}

class BadConfig : public testing::TestWithParam<std::string> {};

TEST_P(BadConfig, IsReportedInTheExpectedWords) {
  EXPECT_EQ(told(folder() / (GetParam() + ".yaml")),
            contents(folder() / (GetParam() + ".expected")));
}

INSTANTIATE_TEST_SUITE_P(All, BadConfig, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

TEST(BadConfigs, DifferFromAGoodOneByTheirMistakeOnly) {
  EXPECT_EQ(told(folder() / "bases" / "good.yaml"), "");
}

TEST(BadConfigs, EightMistakesOfOneFileAreToldAtOnce) {
  const std::string text = contents(folder() / "eight_mistakes.expected");
  EXPECT_EQ(std::ranges::count(text, '\n'), 8);
}

}  // namespace
}  // namespace tiersim
