// Values by hand; quantities in base units (B, s, FLOP, J, USD).
#include "sim/expression/expression.hpp"

#include <map>

#include <gtest/gtest.h>

#include "sim/expression/dimension.hpp"
#include "sim/record/metrics.hpp"

namespace tiersim::expression_test {
namespace {

using Names = std::map<std::string, std::string, std::less<>>;

// The result as text, or "at OFFSET: message (hint)".
std::string told(const ExpressionError& error) {
  return "at " + std::to_string(error.offset) + ": " + error.message +
         (error.hint.empty() ? "" : " (" + error.hint + ")");
}
Expression::Lookup lookup_in(const Names& names) {
  return [&names](std::string_view name) -> std::optional<ExpressionValue> {
    const auto it = names.find(name);
    if (it == names.end()) return std::nullopt;
    return expression_value(it->second);
  };
}
std::string result(const std::string& text, const Names& names = {}) {
  const auto parsed = Expression::parse(text);
  if (!parsed) return told(parsed.error());
  const auto value = parsed->evaluate(lookup_in(names));
  return value ? label_text(*value) : told(value.error());
}

TEST(Expression, BindsOperatorsInTheOrderOfArithmetic) {
  EXPECT_EQ(result("2 + 3 * 4"), "14");
  EXPECT_EQ(result("(2 + 3) * 4"), "20");
  EXPECT_EQ(result("20 - 3 - 4"), "13");
  EXPECT_EQ(result("100 / 5 / 2"), "10");
  EXPECT_EQ(result("-2 ** 2"), "-4");
  EXPECT_EQ(result("2 ** 3 ** 2"), "512");
  EXPECT_EQ(result("2 ** -1"), "0.5");
  EXPECT_EQ(result("7 % 3 + 1"), "2");
  EXPECT_EQ(result("-7 % 3"), "2");
  EXPECT_EQ(result("1 + 1 == 2 and not 1 > 2"), "true");
  EXPECT_EQ(result("true or false and false"), "true");
  EXPECT_EQ(result("not true or true"), "true");
}

TEST(Expression, HasTheFunctionsOfItsHeader) {
  EXPECT_EQ(result("min(3, 1, 2)"), "1");
  EXPECT_EQ(result("max(1 KiB, 1 KB)"), "1 KiB");
  EXPECT_EQ(result("abs(-3)"), "3");
  EXPECT_EQ(result("floor(2.7) + ceil(2.1) + round(2.5)"), "8");
  EXPECT_EQ(result("sqrt(16 B * 1 B)"), "4 B");
  EXPECT_EQ(result("log2(8)"), "3");
  EXPECT_EQ(result("log10(1000)"), "3");
  EXPECT_EQ(result("exp(0)"), "1");
  EXPECT_EQ(result("if(1 < 2, 'a', 'b')"), "a");
  EXPECT_EQ(result("part('9/64/8/1/8', '/', 2)"), "64");
  EXPECT_EQ(result("part('9/64', '/', 1) * part('9/64', '/', 2)"), "576");
  EXPECT_EQ(result("part('a::1.5', '::', 2)"), "1.5");
  EXPECT_EQ(result("after('a=3; users=16; x', 'users=') + after('x1.5y', 'x')"), "17.5");
  EXPECT_EQ(result("after('a=3', 'users=')"), "0");
  EXPECT_EQ(result("part('//8', '/', 1) + part('9/64', '/', 3) + part('', '/', 1)"), "0");
}

TEST(Expression, ComputesWithUnits) {
  EXPECT_EQ(result("48 GB/s * 2 s"), "96 GB");
  EXPECT_EQ(result("96 GB / 48 GB/s"), "2 s");
  EXPECT_EQ(result("1 MiB / 4 KiB"), "256");
  EXPECT_EQ(result("990 TFLOP/s / 4 TB/s"), "247.5 FLOP/B");
  EXPECT_EQ(result("700 W * 2 s"), "1.4 kJ");
  EXPECT_EQ(result("0.2 s == 200 ms"), "true");
  EXPECT_EQ(result("3 GB/seq", {{"seq", "3"}}), "1 GB");
  EXPECT_EQ(result("throughput > 1000 tokens/s", {{"throughput", "1001"}}), "true");
}

TEST(Expression, TakesNamesTextAndLists) {
  const Names names{{"batch", "16"},
                    {"context", "8192"},
                    {"method", "Quest"},
                    {"ttft.p99", "0.1 s"},
                    {"tp", "4"}};
  EXPECT_EQ(result("batch * context <= 262144 and method != 'MAPLE'", names), "true");
  EXPECT_EQ(result("ttft.p99 < 200 ms", names), "true");
  EXPECT_EQ(result("tp in [1, 2, 4]", names), "true");
  EXPECT_EQ(result("tp not in [1, 2, 4]", names), "false");
  EXPECT_EQ(result("method in [\"Quest\", 'Loki']", names), "true");
  EXPECT_EQ(result("min(64, floor(1 MiB / (batch * 1 KiB)))", names), "64");
}

TEST(Expression, ListsItsNamesOnceInOrder) {
  const auto parsed = Expression::parse("b + a.p99 * b > max(c, 2)");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->names(), (std::vector<std::string>{"b", "a.p99", "c"}));
  EXPECT_EQ(parsed->offset_of("a.p99"), 4U);
}

TEST(Expression, ExplainsWhatItCannotRead) {
  EXPECT_EQ(result(""), "at 0: an empty expression");
  EXPECT_EQ(result("1 +"), "at 3: the expression ends where a value is expected");
  EXPECT_EQ(result("(1 + 2"), "at 0: this bracket is never closed");
  EXPECT_EQ(result("1 < 2 < 3"), "at 6: comparisons cannot be chained (write 'a < b and b < c')");
  EXPECT_EQ(result("a = 1"), "at 2: unknown operator '=' (write '==')");
  EXPECT_EQ(result("a && b"), "at 2: unknown operator '&&' (write 'and')");
  EXPECT_EQ(result("2 ^ 3"), "at 2: unknown operator '^' (a power is '**')");
  EXPECT_EQ(result("!a"), "at 0: unknown operator '!' (write 'not')");
  EXPECT_EQ(result("3 Gb/s > 1"), "at 2: unknown unit 'Gb/s' (did you mean 'GB/s'?)");
  EXPECT_EQ(result("3 rows"), "at 2: unknown unit 'rows' (to multiply, write '*')");
  EXPECT_EQ(result("'abc"), "at 0: this quote is never closed");
  EXPECT_EQ(result("[1]"), "at 0: a list can only follow 'in' (x in [1, 2, 4])");
  EXPECT_EQ(result("a in 3"), "at 5: expected '[' after 'in' (x in [1, 2, 4])");
  EXPECT_EQ(result("a b"), "at 2: expected an operator before 'b' (text stands in quotes)");
  EXPECT_EQ(result("sin(1)"),
            "at 0: there is no function 'sin' (functions: min, max, abs, floor, ceil, round, sqrt, "
            "log2, log10, exp, part, after, if)");
  EXPECT_EQ(result("part('a/1')"),
            "at 0: part takes 3 values, not 1 (part(text, separator, number))");
  EXPECT_EQ(result("if(true, 1)"),
            "at 0: if takes 3 values, not 2 (if(condition, value, otherwise))");
  EXPECT_EQ(result(std::string(400, '(')).substr(0, 30), "at 100: nested deeper than 100");
}

TEST(Expression, ExplainsWhatDoesNotFit) {
  EXPECT_EQ(result("1 s + 1 B"), "at 4: cannot add a duration and a size");
  EXPECT_EQ(result("ttft < 200", {{"ttft", "0.1 s"}}),
            "at 5: cannot compare a duration and a plain number (give the number a unit)");
  EXPECT_EQ(result("'a' == 1"), "at 4: cannot compare text and a plain number");
  EXPECT_EQ(result("'a' < 'b'"), "at 4: text has no order (== or !=)");
  EXPECT_EQ(result("1 and true"),
            "at 0: 'and' needs a truth value, not a plain number (compare it with something)");
  EXPECT_EQ(result("'a' * 2"), "at 0: arithmetic needs a number, not text");
  EXPECT_EQ(result("floor(1.5 B)"),
            "at 0: floor needs a plain number, not a size (divide by a unit: x / 1 GB)");
  EXPECT_EQ(result("after('users=many', 'users=')"),
            "at 6: no number stands behind 'users=' in 'users=many'");
  EXPECT_EQ(result("after('a', '')"), "at 11: no mark to look for (such as 'users=')");
  EXPECT_EQ(result("after('a')"), "at 0: after takes 2 values, not 1 (after(text, mark))");
  EXPECT_EQ(result("part('1/b', '/', 2)"), "at 5: part 2 of '1/b' is not a number");
  EXPECT_EQ(result("part('1/nan', '/', 2)"), "at 5: part 2 of '1/nan' is not a number");
  EXPECT_EQ(result("part('1/2', '', 2)"), "at 12: nothing separates no parts (such as '/')");
  EXPECT_EQ(result("part('1/2', '/', 0)"), "at 17: parts are counted by whole numbers from 1");
  EXPECT_EQ(result("part('1/2', '/', 1.5)"), "at 17: parts are counted by whole numbers from 1");
  EXPECT_EQ(result("part(12, '/', 1)"), "at 5: part needs text, not a plain number");
  EXPECT_EQ(result("sqrt(2 B)"), "at 0: the square root of a size has no unit");
  EXPECT_EQ(result("(2 B) ** 0.5"), "at 6: the exponent of a size must be a whole number");
  EXPECT_EQ(result("1 / (a - 2)", {{"a", "2"}}), "at 2: division by zero");
  EXPECT_EQ(result("log2(0)"), "at 0: the result is no finite number");
  EXPECT_EQ(result("10 ** 400"), "at 3: the result is no finite number");
  EXPECT_EQ(result("rows > 1"), "at 0: 'rows' has no value here");
}

TEST(Expression, IsCheckedInBranchesThatAreNotTaken) {
  const Names names{{"a", "1"}};
  for (const char* text : {"a > 0 or 1 s > 1 B", "if(a > 0, 1 s, 1 B) > 0 s"}) {
    const auto parsed = Expression::parse(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_FALSE(parsed->check(lookup_in(names))) << text;
  }
  const auto by_zero = Expression::parse("1 / (a - 1) > 0");
  ASSERT_TRUE(by_zero);
  EXPECT_TRUE(by_zero->check(lookup_in(names)));
}

TEST(ExpressionValue, IsWhatAConfigurationMeansByItsText) {
  EXPECT_EQ(expression_value("48 GB/s"), ExpressionValue(Magnitude{48e9, "B/s"}));
  EXPECT_EQ(expression_value("107 ns"), ExpressionValue(Magnitude{107e-9, "s"}));
  EXPECT_EQ(expression_value("1 kWh"), ExpressionValue(Magnitude{3.6e6, "J"}));
  EXPECT_EQ(expression_value("247.5 FLOP/B"), ExpressionValue(Magnitude{247.5, "FLOP/B"}));
  EXPECT_EQ(expression_value("-3"), ExpressionValue(Magnitude{-3, ""}));
  EXPECT_EQ(expression_value("true"), ExpressionValue(true));
  EXPECT_EQ(expression_value("Quest"), ExpressionValue(std::string("Quest")));
  EXPECT_EQ(expression_value("3 rows"), ExpressionValue(std::string("3 rows")));
}

TEST(ExpressionValue, IsWrittenAsASettingTakesIt) {
  EXPECT_EQ(*setting_text(Magnitude{262144, ""}), "262144");
  EXPECT_EQ(*setting_text(Magnitude{0.1 + 0.2, ""}), "0.3");
  EXPECT_EQ(*setting_text(Magnitude{107e-9, "s"}), "107 ns");
  EXPECT_EQ(*setting_text(Magnitude{1.5 * (1 << 20), "B"}), "1.5 MiB");
  EXPECT_EQ(*setting_text(true), "true");
  EXPECT_FALSE(setting_text(Magnitude{247.5, "FLOP/B"}));
  EXPECT_FALSE(setting_text(Magnitude{-1, "B"}));
}

TEST(Expression, KnowsTheUnitOfEveryMetric) {
  for (const MetricDefinition& metric : kMetrics) {
    if (metric.unit == "1" || metric.unit == "1/s") continue;  // plain numbers
    const auto unit = find_unit(metric.unit);
    EXPECT_TRUE(unit.has_value()) << metric.name << " in " << metric.unit;
  }
}

}  // namespace
}  // namespace tiersim::expression_test
