#include "kernels/campaign/conformance_file.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <istream>
#include <limits>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace tiersim::kernels::conformance {
namespace {

constexpr const char* kHeader = "tiersim.conformance/v1";
constexpr std::size_t kWordsALine = 8;
constexpr std::size_t kMostWords = 1U << 20U;  // of a probe: limits the memory for a damaged file

std::string hex(std::uint32_t word) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", word);
  return text;
}

// Floats as ordered integers: neighbours differ by one.
std::int64_t rank(std::uint32_t bits) {
  const auto size = static_cast<std::int64_t>(bits & 0x7fffffffU);
  return (bits >> 31U) != 0 ? -size : size;
}

bool is_nan(std::uint32_t bits) {
  return (bits & 0x7fffffffU) > 0x7f800000U;
}

}  // namespace

void write(std::ostream& to, const Expected& expected) {
  to << kHeader << '\n';
  for (const auto& [name, words] : expected) {
    to << name << ' ' << words.size() << '\n';
    for (std::size_t i = 0; i < words.size(); ++i) {
      to << hex(words[i]) << ((i + 1) % kWordsALine == 0 || i + 1 == words.size() ? '\n' : ' ');
    }
  }
}

Expected read(std::istream& from) {
  Expected expected;
  std::string line;
  int number = 0;
  const auto next = [&] {
    ++number;
    return static_cast<bool>(std::getline(from, line));
  };
  const auto fail = [&](const std::string& why) {
    throw std::runtime_error("line " + std::to_string(number) + ": " + why);
  };
  if (!next() || line != kHeader) fail(std::string("expected '") + kHeader + "'");
  while (next()) {
    std::istringstream heading(line);
    std::string name;
    std::size_t count = 0;
    if (!(heading >> name >> count) || count > kMostWords) fail("expected '<probe> <words>'");
    std::vector<std::uint32_t>& words = expected[name];
    if (!words.empty()) fail("'" + name + "' stands twice");
    while (words.size() < count) {
      if (!next()) fail("the file ends within '" + name + "'");
      std::istringstream row(line);
      std::string word;
      while (row >> word) {
        if (word.size() != 8 || word.find_first_not_of("0123456789abcdef") != std::string::npos) {
          fail("'" + word + "' is no word of eight hexadecimal digits");
        }
        words.push_back(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16)));
      }
    }
    if (words.size() != count) fail("more words than announced");
  }
  return expected;
}

std::uint32_t ulp_distance(std::uint32_t a, std::uint32_t b) {
  if (is_nan(a) && is_nan(b)) return 0;
  if (is_nan(a) || is_nan(b)) return std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::abs(rank(a) - rank(b)));
}

Verdict judge(const std::vector<std::uint32_t>& expected, const std::vector<std::uint32_t>& got,
              std::uint32_t ulp, float absolute) {
  Verdict verdict;
  verdict.words = expected.size();
  if (expected.size() != got.size()) {
    verdict.different = std::max(expected.size(), got.size());
    verdict.first = std::to_string(got.size()) + " words, expected " +
                    std::to_string(expected.size()) + " (files of two versions?)";
    return verdict;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    bool same = expected[i] == got[i];
    if (!same && (ulp > 0 || absolute > 0)) {
      const float off = std::bit_cast<float>(expected[i]) - std::bit_cast<float>(got[i]);
      same = ulp_distance(expected[i], got[i]) <= ulp || std::fabs(off) <= absolute;
    }
    if (same) continue;
    if (verdict.different++ == 0) {
      verdict.first = "word " + std::to_string(i) + ": " + hex(got[i]) + ", the emulator says " +
                      hex(expected[i]);
    }
  }
  return verdict;
}

}  // namespace tiersim::kernels::conformance
