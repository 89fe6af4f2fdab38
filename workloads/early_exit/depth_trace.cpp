#include "workloads/early_exit/depth_trace.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <sstream>

#include <fmt/format.h>

namespace tiersim {
namespace {

constexpr std::int64_t kDepthMost = 1000;  // as the range of layers in LlmConfig
constexpr std::size_t kDepthsMost = 1'000'000;
constexpr std::size_t kProblemsMost = 10;

std::optional<std::int64_t> depth_of(const std::string& word) {
  std::int64_t value = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || stop != end || value < 1 || value > kDepthMost) return std::nullopt;
  return value;
}

}  // namespace

Expected<std::string, std::vector<ImportProblem>> import_depth_trace(
    const std::filesystem::path& path, const std::string& text) {
  std::vector<ImportProblem> problems;
  std::string yaml;
  std::size_t depths = 0;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line) && problems.size() < kProblemsMost;) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string request;
    for (std::string word; words >> word; ++depths) {
      const auto depth = depth_of(word);
      if (!depth) {
        problems.push_back({fmt::format("{}:{}: '{}' is no depth", path.string(), number, word),
                            fmt::format("a depth is a whole number from 1 to {}", kDepthMost)});
        break;
      }
      request += fmt::format("{}{}", request.empty() ? "" : ", ", *depth);
    }
    if (!request.empty()) yaml += fmt::format("  - [{}]\n", request);
  }
  if (problems.empty() && depths == 0)
    problems.push_back({fmt::format("{}:{}: holds no depths", path.string(), number + 1),
                        "write a line of depths for each request"});
  if (depths > kDepthsMost)
    problems.push_back(
        {fmt::format("{}:{}: holds {} depths", path.string(), number, depths),
         fmt::format("they become part of the run's configuration: {} at most", kDepthsMost)});
  if (!problems.empty()) return Unexpected(std::move(problems));
  return "traced:\n" + yaml;
}

}  // namespace tiersim
