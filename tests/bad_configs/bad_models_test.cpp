// As bad_configs_test.cpp, for the files of models/: models as a user writes or imports them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "workloads/importers.hpp"
#include "workloads/llm/llm_config.hpp"

namespace tiersim {
namespace {

namespace fs = std::filesystem;

fs::path folder() {
  return fs::path(TIERSIM_SOURCE_DIR) / "tests" / "bad_configs" / "models";
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
  const Document document = load_document(path, {.importers = make_importers()}, diagnostics);
  static_cast<void>(read<LlmConfig>(document, "model", diagnostics));
  std::string text = diagnostics.text();
  const std::string prefix = folder().string() + '/';
  for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;)
    text.erase(at, prefix.size());
  return text;
}

class BadModel : public testing::TestWithParam<std::string> {};

TEST_P(BadModel, IsReportedInTheExpectedWords) {
  EXPECT_EQ(told(folder() / (GetParam() + ".yaml")),
            contents(folder() / (GetParam() + ".expected")));
}

INSTANTIATE_TEST_SUITE_P(All, BadModel, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tiersim
