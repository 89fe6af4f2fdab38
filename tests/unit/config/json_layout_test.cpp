#include "sim/config/json_layout.hpp"

#include <gtest/gtest.h>

namespace tiersim::json_layout_test {
namespace {

TEST(JsonLayout, PutsWhatFitsOnOneLine) {
  EXPECT_EQ(pretty_json(R"({"a":1,"b":[true,null,{"c":"d"}]})"),
            "{\"a\": 1, \"b\": [true, null, {\"c\": \"d\"}]}\n");
  EXPECT_EQ(pretty_json("[]"), "[]\n");
  EXPECT_EQ(pretty_json("-1.50e-07"), "-1.50e-07\n");
}

TEST(JsonLayout, GivesEachObjectOfALongObjectALine) {
  EXPECT_EQ(pretty_json(R"({"first":{"x":1,"y":2},"second":{},"third":"0123456789"})", 30),
            "{\n"
            "  \"first\": {\"x\": 1, \"y\": 2},\n"
            "  \"second\": {},\n"
            "  \"third\": \"0123456789\"\n"
            "}\n");
  EXPECT_EQ(pretty_json(R"({"a":1,"b":2,"c":{"x":1000},"d":3,"e":4,"f":[1,2,3],"g":5})", 20),
            "{\n"
            "  \"a\": 1, \"b\": 2,\n"
            "  \"c\": {\"x\": 1000},\n"
            "  \"d\": 3, \"e\": 4,\n"
            "  \"f\": [1, 2, 3],\n"
            "  \"g\": 5\n"
            "}\n");
}

TEST(JsonLayout, GivesEachObjectOfALongListALine) {
  EXPECT_EQ(pretty_json(R"([{"x":1},"x",["y"]])", 18),
            "[\n"
            "  {\"x\": 1},\n"
            "  \"x\",\n"
            "  [\"y\"]\n"
            "]\n");
}

TEST(JsonLayout, FillsTheLinesOfPlainValues) {
  EXPECT_EQ(pretty_json("[1000,2000,3000,4000,5000]", 20),
            "[\n"
            "  1000, 2000, 3000,\n"
            "  4000, 5000\n"
            "]\n");
  EXPECT_EQ(pretty_json(R"({"a":10,"b":20,"c":30})", 19),
            "{\n"
            "  \"a\": 10, \"b\": 20,\n"
            "  \"c\": 30\n"
            "}\n");
}

// {"a": 5} and a comma are 9 columns.
TEST(JsonLayout, LeavesRoomForAComma) {
  EXPECT_EQ(pretty_json(R"({"a":5})", 9), "{\"a\": 5}\n");
  EXPECT_EQ(pretty_json(R"({"a":5})", 8), "{\n  \"a\": 5\n}\n");
}

TEST(JsonLayout, TakesBracketsAndCommasOfATextAsText) {
  EXPECT_EQ(pretty_json(R"({"a,]":"}\",:[","b":"\\"})"),
            "{\"a,]\": \"}\\\",:[\", \"b\": \"\\\\\"}\n");
}

// Three characters of two bytes are three columns: ["µµµ"] and a comma are 8.
TEST(JsonLayout, CountsCharacters) {
  EXPECT_EQ(pretty_json("[\"\u00b5\u00b5\u00b5\"]", 8), "[\"\u00b5\u00b5\u00b5\"]\n");
}

}  // namespace
}  // namespace tiersim::json_layout_test
