#include "kernels/campaign/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tiersim::kernels::bench::schema_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Shape card() {
  return object({{"name", text("")},
                 {"kind", choice({"a", "b"})},
                 {"size", integer(1, "")},
                 {"time", positive("")},
                 {"flag", boolean("")},
                 {"shape", map_of(integer(0, ""), "")},
                 {"list", array_of(number(0, ""), "")},
                 {"more", text(""), false}});
}

const char* const kGood =
    R"({"name": "x", "kind": "a", "size": 1, "time": 0.5, "flag": true, "shape": {"b": 0}, "list": [0, 1.5]})";

std::vector<std::string> problems_with(const std::string& member, const std::string& value) {
  Json changed = Json::parse(kGood);
  changed.set(member, Json::parse(value));
  return mismatches(changed, card(), "d");
}

TEST(Schema, TakesWhatFits) {
  EXPECT_THAT(mismatches(Json::parse(kGood), card(), "d"), IsEmpty());
  EXPECT_THAT(problems_with("more", "\"y\""), IsEmpty());
}

TEST(Schema, NamesThePlaceOfEachMistake) {
  EXPECT_THAT(problems_with("name", "1"), ElementsAre("d.name: expected string, found 1"));
  EXPECT_THAT(problems_with("kind", "\"c\""), ElementsAre("d.kind: 'c' is none of its values"));
  EXPECT_THAT(problems_with("size", "0"), ElementsAre("d.size: 0 is not at least 1.0"));
  EXPECT_THAT(problems_with("size", "1.0"), ElementsAre("d.size: expected integer, found 1.0"));
  EXPECT_THAT(problems_with("time", "0"), ElementsAre("d.time: 0 is not above 0.0"));
  EXPECT_THAT(problems_with("flag", "null"), ElementsAre("d.flag: expected boolean, found null"));
  EXPECT_THAT(problems_with("shape", "{\"b\": -1}"),
              ElementsAre("d.shape.b: -1 is not at least 0.0"));
  EXPECT_THAT(problems_with("list", "[0, true]"),
              ElementsAre("d.list[1]: expected number, found true"));
  EXPECT_THAT(problems_with("colour", "1"), ElementsAre("d: 'colour' is not known"));
}

TEST(Schema, MissesWhatIsRequired) {
  EXPECT_THAT(mismatches(Json::parse("{}"), object({{"a", text("")}, {"b", text(""), false}}), "d"),
              ElementsAre("d: 'a' is missing"));
}

TEST(Schema, IsWrittenAsJsonSchema) {
  EXPECT_EQ(json_schema(object({{"n", positive("much")}, {"k", choice({"a"}), false}})).dump(),
            R"({"type": "object", "properties": {"n": {"description": "much", "type": "number", )"
            R"("exclusiveMinimum": 0.0}, "k": {"enum": ["a"]}}, "required": ["n"], )"
            R"("additionalProperties": false})");
}

}  // namespace
}  // namespace tiersim::kernels::bench::schema_test
