#include "kernels/campaign/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tiersim::kernels::bench::json_test {
namespace {

using ::testing::HasSubstr;

std::string problem_of(const std::string& text) {
  try {
    Json::parse(text);
  } catch (const JsonError& error) {
    return error.what();
  }
  return "";
}

TEST(Json, WritesWhatItReads) {
  const std::string text =
      R"({"a": [1, -2.5, true, null], "b": {"c": "quote \" slash \\ tab \t"}, "d": []})";
  EXPECT_EQ(Json::parse(text).dump(), text);
}

TEST(Json, KeepsEveryDigitOfADouble) {
  const double value = 0.1 + 0.2;
  EXPECT_EQ(Json::parse(Json(value).dump()).number(), value);
}

TEST(Json, KeepsIntegersApartFromNumbers) {
  EXPECT_TRUE(Json::parse("9007199254740993").is_integer());
  EXPECT_EQ(Json::parse("9007199254740993").integer(), 9007199254740993);
  EXPECT_FALSE(Json::parse("1.0").is_integer());
  EXPECT_EQ(Json(2.0).dump(), "2.0");
}

TEST(Json, PutsLevelsOnLinesOfTheirOwn) {
  const Json value = Json::parse(R"({"a": [1, {"b": 2}]})");
  EXPECT_EQ(value.dump(2), "{\n  \"a\": [\n    1,\n    {\"b\": 2}\n  ]\n}");
}

TEST(Json, PutsWhatFitsOnOneLine) {
  const std::string word(30, 'x');
  Json list{Json::Array{}};
  list.push_back(word);
  list.push_back(word);
  Json value;
  value.set("short", list);
  list.push_back(word);
  value.set("long", list);
  const std::string quoted = '"' + word + '"';
  EXPECT_EQ(value.pretty(100), "{\n  \"short\": [" + quoted + ", " + quoted +
                                   "],\n  \"long\": [\n    " + quoted + ",\n    " + quoted +
                                   ",\n    " + quoted + "\n  ]\n}\n");
}

TEST(Json, CannotWriteWhatIsNotFinite) {
  EXPECT_THROW(static_cast<void>(Json(std::numeric_limits<double>::infinity()).dump()), JsonError);
  EXPECT_THROW(static_cast<void>(Json(std::numeric_limits<double>::quiet_NaN()).dump()), JsonError);
}

TEST(Json, SaysWhereTextIsNotJson) {
  EXPECT_THAT(problem_of("{\"a\": 1,\n \"a\": 2}"), HasSubstr("2:5: 'a' stands twice"));
  EXPECT_THAT(problem_of("[1, 2"), HasSubstr("expected ']'"));
  EXPECT_THAT(problem_of("[1] x"), HasSubstr("text after the value"));
  EXPECT_THAT(problem_of("[01]"), HasSubstr("leading zero"));
  EXPECT_THAT(problem_of("[1e999]"), HasSubstr("out of range"));
  EXPECT_THAT(problem_of("[NaN]"), HasSubstr("expected a value"));
  EXPECT_THAT(problem_of("\"a"), HasSubstr("without its end"));
  EXPECT_THAT(problem_of("[1,]"), HasSubstr("expected a value"));
  EXPECT_THAT(problem_of("\"\\x\""), HasSubstr("unknown escape"));
  EXPECT_THAT(problem_of(std::string(200, '[')), HasSubstr("too deeply"));
  EXPECT_THAT(problem_of(""), HasSubstr("expected a value"));
}

TEST(Json, NamesTheMissingMember) {
  EXPECT_THROW(Json::parse("{}").at("a"), JsonError);
  EXPECT_THROW(static_cast<void>(Json::parse("{\"a\": 1}").at("a").text()), JsonError);
}

TEST(Json, ReplacesAMemberInItsPlace) {
  Json value = Json::parse(R"({"a": 1, "b": 2})");
  EXPECT_EQ(value.set("a", 3).dump(), R"({"a": 3, "b": 2})");
}

}  // namespace
}  // namespace tiersim::kernels::bench::json_test
