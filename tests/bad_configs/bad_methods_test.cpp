// As bad_configs_test.cpp, for the files of methods/: a shipped scenario with a mistake in its
// method.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "sim/run/scenario.hpp"
#include "workloads/importers.hpp"

namespace tiersim {
namespace {

namespace fs = std::filesystem;

fs::path folder() {
  return fs::path(TIERSIM_SOURCE_DIR) / "tests" / "bad_configs" / "methods";
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
  const LoadOptions options{.config_root = fs::path(TIERSIM_SOURCE_DIR) / "configs",
                            .importers = make_importers()};
  const Document document = load_document(path, options, diagnostics);
  (void)read<ScenarioConfig>(document, "scenario", diagnostics);
  std::string text = diagnostics.text();
  const std::string prefix = folder().string() + '/';
  for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;)
    text.erase(at, prefix.size());
  return text;
}

class BadMethod : public testing::TestWithParam<std::string> {};

TEST_P(BadMethod, IsReportedInTheExpectedWords) {
  EXPECT_EQ(told(folder() / (GetParam() + ".yaml")),
            contents(folder() / (GetParam() + ".expected")));
}

INSTANTIATE_TEST_SUITE_P(All, BadMethod, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tiersim
