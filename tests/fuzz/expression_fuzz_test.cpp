// Users type expressions of sweeps, so random text must at most be refused, and random arithmetic
// must give the result of the same operations in C++. Seeds are printed on failure.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/expression/expression.hpp"

namespace tiersim::expression_fuzz_test {
namespace {

std::optional<ExpressionValue> a_value(std::string_view name) {
  if (name == "batch") return Magnitude{16, ""};
  if (name == "size") return Magnitude{4096, "B"};
  if (name == "method") return std::string("Quest");
  return std::nullopt;
}

// Refused at a position within the text, or evaluated to a value or to an error at such a position.
void expect_sound(const std::string& text) {
  const auto parsed = Expression::parse(text);
  if (!parsed) {
    EXPECT_LE(parsed.error().offset, text.size()) << text;
    EXPECT_FALSE(parsed.error().message.empty()) << text;
    return;
  }
  for (const auto& value : {parsed->evaluate(a_value), parsed->check(a_value)}) {
    if (value) continue;
    EXPECT_LE(value.error().offset, text.size()) << text;
    EXPECT_FALSE(value.error().message.empty()) << text;
  }
}

TEST(ExpressionFuzz, RefusesRandomBytes) {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Rng rng(seed, "bytes");
    std::string text(rng.below(40), ' ');
    for (char& c : text) c = static_cast<char>(rng.below(256));
    SCOPED_TRACE(seed);
    expect_sound(text);
  }
}

TEST(ExpressionFuzz, TakesOrRefusesRandomWords) {
  const std::vector<std::string> words{
      "batch", "size", "method", "nothing", "1",   "2.5",  "0",     "1e300", "3 KiB", "200 ms",
      "GB/s",  "'a'",  "\"b\"",  "(",       ")",   "[",    "]",     ",",     "+",     "-",
      "*",     "/",    "%",      "**",      "==",  "!=",   "<",     "<=",    ">",     ">=",
      "in",    "not",  "and",    "or",      "if(", "min(", "sqrt(", "log2(", "true",  "="};
  for (std::uint64_t seed = 0; seed < 50'000; ++seed) {
    Rng rng(seed, "words");
    std::string text;
    for (std::uint64_t left = rng.below(12); left > 0; --left)
      text += words[rng.below(words.size())] + (rng.below(4) == 0 ? "" : " ");
    SCOPED_TRACE(seed);
    expect_sound(text);
  }
}

// Text and value of the same random arithmetic, with as few brackets as precedence needs.
struct Sample {
  std::string text;
  double value = 0;
  int strength = 3;  // 1 sum, 2 product, 3 number
};
Sample random_arithmetic(Rng& rng, int depth) {
  if (depth == 0 || rng.below(4) == 0) {
    const auto number = static_cast<double>(1 + rng.below(9));
    return {std::to_string(static_cast<int>(number)), number, 3};
  }
  const Sample a = random_arithmetic(rng, depth - 1);
  const Sample b = random_arithmetic(rng, depth - 1);
  const std::uint64_t operation = rng.below(4);
  const int strength = operation < 2 ? 1 : 2;
  const auto bracketed = [](const Sample& s, int least) {
    return s.strength < least ? "(" + s.text + ")" : s.text;
  };
  const std::string symbol(1, "+-*/"[operation]);
  const double value = operation == 0   ? a.value + b.value
                       : operation == 1 ? a.value - b.value
                       : operation == 2 ? a.value * b.value
                                        : a.value / b.value;
  return {bracketed(a, strength) + symbol + bracketed(b, strength + 1), value, strength};
}

TEST(ExpressionFuzz, ComputesAsTheSameOperationsInCpp) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    Rng rng(seed, "arithmetic");
    const Sample sample = random_arithmetic(rng, 5);
    if (!std::isfinite(sample.value)) continue;
    const auto parsed = Expression::parse(sample.text);
    ASSERT_TRUE(parsed) << sample.text;
    const auto value = parsed->evaluate(a_value);
    if (!value) continue;  // a division by zero, which IEEE arithmetic would ignore
    ASSERT_EQ(*value, ExpressionValue(Magnitude{sample.value, ""})) << seed << ": " << sample.text;
    ++compared;
  }
  EXPECT_GT(compared, 4'000);
}

}  // namespace
}  // namespace tiersim::expression_fuzz_test
