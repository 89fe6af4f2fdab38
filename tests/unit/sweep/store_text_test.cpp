// Texts of a store's rows are taken apart and put together again without a change.
#include "sim/sweep/store_text.hpp"

#include <gtest/gtest.h>

namespace tiersim::store_text_test {
namespace {

TEST(LabelsRow, IsReadBackAsItWas) {
  const std::vector<std::string> labels{"8192",           "0.10", "",     "48 GB/s",
                                        "a \"b\", [c]\\", "-0",   "1e-05"};
  const std::string row = labels_row(labels);
  EXPECT_TRUE(row.starts_with(R"([8192,"0.10",null,"48 GB/s",)")) << row;
  EXPECT_EQ(labels_of(row), labels);
  EXPECT_EQ(labels_of("[]"), std::vector<std::string>());
  for (const char* damaged : {"", "[", "8192", "[\"a]", "[\"a\"b]", "[\"a\" ,1]"})
    EXPECT_ANY_THROW(labels_of(damaged)) << damaged;
}

TEST(SettingsForm, HasTheColumnOfAValueThatIsItsLabel) {
  const std::vector<SpaceColumn> columns{{"context", "step.context", true}, {"method", "", false}};
  const SpacePoint point{.set = {"step.context=8192", "step.batch=8192", "x"},
                         .labels = {"8192", "MAPLE"}};
  const std::string form = settings_form(columns, point);
  EXPECT_EQ(form, R"([["step.context=",0],"step.batch=8192","x"])");
  EXPECT_EQ(SettingsForm(form).of(point.labels), point.set);
  EXPECT_EQ(SettingsForm(form).of({"4", ""}).front(), "step.context=4");
  EXPECT_ANY_THROW(SettingsForm("["));
  EXPECT_ANY_THROW(SettingsForm(R"([["a=",2]])").of({"1"}));
}

TEST(SettingsForm, KeepsAValueThatIsNoLabel) {
  const std::vector<SpaceColumn> columns{{"name", "a.b", false}};
  const SpacePoint point{.set = {"a.b='x'"}, .labels = {"x"}};
  EXPECT_EQ(SettingsForm(settings_form(columns, point)).of(point.labels), point.set);
}

TEST(SplitNumbers, ArePutTogetherAgain) {
  const std::string json =
      R"({"a1":{"value":-2.5e-07,"unit":"1/s \"3\"","ci95":[1,17.25]},"b":null,"c":[]})";
  const SplitNumbers split = split_numbers(json);
  EXPECT_EQ(split.numbers, "[-2.5e-07,1,17.25]");
  EXPECT_EQ(split.shape, R"({"a1":{"value":0,"unit":"1/s \"3\"","ci95":[1,2]},"b":null,"c":[]})");
  EXPECT_EQ(join_numbers(split.shape, split.numbers), json);
  EXPECT_ANY_THROW(join_numbers(split.shape, "[1,2]"));
  EXPECT_ANY_THROW(join_numbers(split.shape, "[1,2,3,4]"));
  EXPECT_ANY_THROW(join_numbers(split.shape, "1,2,3"));
}

TEST(IdBytes, AreHalfTheDigits) {
  const std::string id = "00ff7f80a1b2c3d4e5f60718293a4b5c6d7e8f90a0b0c0d0e0f0010203040506";
  EXPECT_EQ(id_bytes(id).size(), 32U);
  EXPECT_EQ(id_text(id_bytes(id)), id);
}

}  // namespace
}  // namespace tiersim::store_text_test
