// Every file below devices/ is a shipped device with a mistake; beside it stands, word for word,
// what its user is told. The folder says what kind of device it is to be.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "sim/run/system_config.hpp"

namespace tiersim {
namespace {

namespace fs = std::filesystem;

fs::path folder() {
  return fs::path(TIERSIM_SOURCE_DIR) / "tests" / "bad_configs" / "devices";
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder()))
    if (entry.path().extension() == ".yaml")
      out.push_back(entry.path().lexically_relative(folder()).replace_extension().generic_string());
  std::ranges::sort(out);
  return out;
}

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

template <class Interface>
std::string told_of(const fs::path& path) {
  Diagnostics diagnostics;
  const LoadOptions options{.config_root = fs::path(TIERSIM_SOURCE_DIR) / "configs"};
  const Document document = load_document(path, options, diagnostics);
  (void)read<DeviceConfig<Interface>>(document, "device", diagnostics);
  return diagnostics.text();
}

std::string told(const std::string& name) {
  const fs::path path = folder() / (name + ".yaml");
  std::string text = name.starts_with("memory/")    ? told_of<MemoryTier>(path)
                     : name.starts_with("link/")    ? told_of<Link>(path)
                     : name.starts_with("request/") ? told_of<RequestEngine>(path)
                                                    : told_of<ComputeUnit>(path);
  const std::string prefix = folder().string() + '/';
  for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;)
    text.erase(at, prefix.size());
  return text;
}

class BadDevice : public testing::TestWithParam<std::string> {};

TEST_P(BadDevice, IsReportedInTheExpectedWords) {
  EXPECT_EQ(told(GetParam()), contents(folder() / (GetParam() + ".expected")));
}

std::string test_name(const testing::TestParamInfo<std::string>& test) {
  std::string out = test.param;
  std::ranges::replace(out, '/', '_');
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, BadDevice, testing::ValuesIn(names()), test_name);

}  // namespace
}  // namespace tiersim
