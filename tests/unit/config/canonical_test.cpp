#include <gtest/gtest.h>

#include "tests/unit/config/sample_text.hpp"

namespace tiersim::canonical_test {
namespace {

using namespace sample;

constexpr std::string_view kCanonical =
    R"({"name":"demo","note":"none",)"
    R"("model":{"name":"tiny","layers":2,"heads":8,"kv_heads":2,"tied":true},)"
    R"("devices":{"hbm":{"model":"memory",)"
    R"("capacity":{"value":"141 GB","class":"specification","source":"data sheet"},)"
    R"("peak":{"value":"4.8 TB/s","class":"assumed","source":"not stated"},)"
    R"("efficiency":{"value":1,"class":"assumed","source":"ideal"}},)"
    R"("pcie":{"model":"link","raw":"64 GB/s","lanes":8,"latency":"0 ps"}},)"
    R"("step":{"batch":4,"context":8192,"kv_type":"fp8","also":[]},)"
    R"("path":["pcie","hbm"],"windows":[{"from":"1 ms","to":"2 ms"}],)"
    R"("warm_up":{"from":"0 ps","to":"0.5 ms"},"compute":"1 TFLOP/s","budget":"1 KFLOP"})";

TEST(CanonicalJson, ListsEveryFieldInTheOrderOfDescribe) {
  const Read got = read_text(kText);
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(canonical_json(got.config), kCanonical);
}

TEST(CanonicalJson, IsReadBackAsTheSameConfiguration) {
  const Read got = read_text(kCanonical);
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(canonical_json(got.config), kCanonical);
}

TEST(CanonicalJson, IsTheSameForEqualValuesInOtherUnits) {
  const Read got = read_text(with("4800 GB/s", "4.8 TB/s"));
  EXPECT_EQ(canonical_json(got.config), kCanonical);
}

TEST(CanonicalJson, EscapesTextThatItReadsBack) {
  const Read got = read_text(with("name: demo", R"(name: "a \"b\"\\ \n\t é \x01 \x7f #: ")"));
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(got.config.name, "a \"b\"\\ \n\t é \x01 \x7f #: ");
  const Read again = read_text(canonical_json(got.config));
  EXPECT_EQ(again.mistakes, "");
  EXPECT_EQ(again.config.name, got.config.name);
}

TEST(CanonicalJson, WritesAnOptionalOnlyWhenItHasAValue) {
  const Read got = read_text(with("path:", "scale: 1e-5\npath:"));
  EXPECT_EQ(got.config.scale, 1e-5);
  EXPECT_NE(canonical_json(got.config).find(R"("scale":1e-05)"), std::string::npos);
  EXPECT_EQ(canonical_json(Experiment{}).find("scale"), std::string::npos);
}

TEST(CanonicalTexts, AreBothTextsOfTheConfiguration) {
  const Read got = read_text(with("data sheet", R"(data "sheet", {source: 1})"));
  const CanonicalTexts texts = canonical_texts(got.config);
  EXPECT_EQ(texts.json, canonical_json(got.config));
  EXPECT_EQ(texts.for_id, canonical_text_for_id(got.config));
}

TEST(CanonicalTextForId, LeavesSourcesOut) {
  const Read got = read_text(kText);
  const Read cited = read_text(with("data sheet", "data sheet, table 2"));
  EXPECT_NE(canonical_json(got.config), canonical_json(cited.config));
  EXPECT_EQ(canonical_text_for_id(got.config), canonical_text_for_id(cited.config));
  EXPECT_NE(canonical_text_for_id(got.config)
                .find(R"("capacity":{"value":"141 GB","class":"specification"})"),
            std::string::npos);
}

TEST(ListNumbers, GivesPathValueClassAndSource) {
  const auto numbers = list_numbers(read_text(kText).config);
  ASSERT_EQ(numbers.size(), 3U);
  EXPECT_EQ(numbers[0].path, "devices.hbm.capacity");
  EXPECT_EQ(numbers[0].value, "141 GB");
  EXPECT_EQ(numbers[0].number_class, NumberClass::specification);
  EXPECT_EQ(numbers[0].source, "data sheet");
  EXPECT_EQ(numbers[1].path, "devices.hbm.peak");
  EXPECT_EQ(numbers[1].number_class, NumberClass::assumed);
  EXPECT_EQ(numbers[1].source, "not stated");
  EXPECT_EQ(numbers[2].value, "1");
}

}  // namespace
}  // namespace tiersim::canonical_test
