#include "sim/config/json_node.hpp"

#include <gtest/gtest.h>

namespace tiersim {
namespace {

using Kind = JsonNode::Kind;

// "line:column: message", with "no JSON: " before it where the text is none; empty without fault.
std::string fault_of(const std::string& text) {
  JsonDocument document;
  const auto fault = document.parse(text);
  if (!fault) return {};
  return (fault->is_json ? "" : "no JSON: ") + std::to_string(fault->line) + ':' +
         std::to_string(fault->column) + ": " + fault->message;
}

TEST(JsonNode, HasTheValuesOfTheText) {
  const std::string text =
      R"({"a": [1, -2.5, true, false, null, "x"], "b": {"c": 9223372036854775807}, "d": {}})";
  JsonDocument document;
  ASSERT_FALSE(document.parse(text));
  const JsonNode root = document.root();
  EXPECT_EQ(root.kind(), Kind::object);
  EXPECT_EQ(root.size(), 3U);
  std::vector<JsonNode> entries;
  for (const JsonNode entry : root.find("a")) entries.push_back(entry);
  ASSERT_EQ(entries.size(), 6U);
  EXPECT_TRUE(entries[0].is_whole());
  EXPECT_EQ(entries[0].integer(), 1);
  EXPECT_EQ(entries[0].number(), 1);
  EXPECT_FALSE(entries[1].is_whole());
  EXPECT_EQ(entries[1].number(), -2.5);
  EXPECT_TRUE(entries[2].flag());
  EXPECT_EQ(entries[3].kind(), Kind::boolean);
  EXPECT_FALSE(entries[3].flag());
  EXPECT_EQ(entries[4].kind(), Kind::null);
  EXPECT_EQ(entries[5].text(), "x");
  EXPECT_EQ(root.find("b").find("c").integer(), 9223372036854775807);
  EXPECT_EQ(root.find("d").size(), 0U);
  EXPECT_EQ(root.find("d").begin(), root.find("d").end());
}

TEST(JsonNode, OfAnotherKindIsEmpty) {
  JsonDocument document;
  ASSERT_FALSE(document.parse(R"(["x", 3])"));
  EXPECT_FALSE(document.root().find("x"));
  EXPECT_FALSE(JsonNode());
  const JsonNode text = *document.root().begin();
  EXPECT_EQ(text.number(), 0);
  EXPECT_EQ(text.integer(), 0);
  EXPECT_FALSE(text.flag());
  EXPECT_EQ(text.size(), 0U);
  EXPECT_EQ(text.written(), "");
  EXPECT_EQ(text.key(), "");
}

TEST(JsonNode, NumbersBeyond64BitsAreNotWhole) {
  JsonDocument document;
  ASSERT_FALSE(document.parse("[9223372036854775808, 1.0, 1e3, -9223372036854775808]"));
  std::vector<bool> whole;
  for (const JsonNode entry : document.root()) whole.push_back(entry.is_whole());
  EXPECT_EQ(whole, (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ((*document.root().begin()).number(), 9223372036854775808.0);
}

TEST(JsonNode, EscapesAreReadInKeysAndTexts) {
  const std::string text = R"({"a\"b": "\u0041\n\\", "\u00e9": "\\\"", "plain": "\"q\""})";
  JsonDocument document;
  ASSERT_FALSE(document.parse(text));
  EXPECT_EQ(document.root().find("a\"b").text(), "A\n\\");
  EXPECT_EQ(document.root().find("\xc3\xa9").text(), "\\\"");
  EXPECT_EQ(document.root().find("plain").text(), "\"q\"");
}

TEST(JsonNode, PlacesAreThoseOfKeysAndEntries) {
  const std::string text = "{\n  \"a\": 1,\n  \"b\": [\n    {},\n    []\n  ], \"\\u0063\": \"\"}";
  JsonDocument document;
  ASSERT_FALSE(document.parse(text));
  const JsonNode root = document.root();
  const auto place = [](JsonNode node) { return std::pair(node.line(), node.column()); };
  EXPECT_EQ(place(root), std::pair(1, 1));
  EXPECT_EQ(place(root.find("a")), std::pair(2, 3));
  EXPECT_EQ(place(root.find("b")), std::pair(3, 3));
  auto entry = root.find("b").begin();
  EXPECT_EQ(place(*entry), std::pair(4, 5));
  EXPECT_EQ(place(*++entry), std::pair(5, 5));
  EXPECT_EQ(place(root.find("c")), std::pair(6, 6));
}

TEST(JsonNode, WrittenIsThePartOfTheText) {
  const std::string text = R"({"a": {"b" : [1, 2 ]}})";
  JsonDocument document;
  ASSERT_FALSE(document.parse(text));
  EXPECT_EQ(document.root().written(), text);
  EXPECT_EQ(document.root().find("a").written(), R"({"b" : [1, 2 ]})");
  EXPECT_EQ(document.root().find("a").find("b").written(), "[1, 2 ]");
}

TEST(JsonNode, AKeyThatStandsTwiceIsAFault) {
  EXPECT_EQ(fault_of("{\"a\": 1,\n \"b\": {\"a\": 2},\n \"a\": 3}"), "3:2: key 'a' stands twice");
  EXPECT_EQ(fault_of(R"({"a": 1, "\u0061": 3})"), "1:10: key 'a' stands twice");
  // However many there are, of which some have escapes.
  for (const int count : {1, 31, 32, 33, 100}) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += "\"\\u0041" + std::to_string(i) + "\": {\"A0\": 1},";
    EXPECT_EQ(fault_of(text + "\"A\": 1}"), "") << count;
    const std::string last = 'A' + std::to_string(count - 1);
    EXPECT_EQ(fault_of(text + '"' + last + "\": 1}"),
              "1:" + std::to_string(text.size() + 1) + ": key '" + last + "' stands twice");
  }
}

TEST(JsonNode, DeepNestingIsAFault) {
  EXPECT_EQ(fault_of(std::string(64, '[') + std::string(64, ']')), "");
  EXPECT_EQ(fault_of(std::string(65, '[') + std::string(65, ']')),
            "1:65: lists and objects are nested more than 64 deep");
}

TEST(JsonNode, TextThatIsNoJsonHasAPlace) {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "[1] 2", "nul", "[\"\x01\"]", "{'a': 1}"})
    EXPECT_TRUE(fault_of(text).starts_with("no JSON: 1:")) << text << ": " << fault_of(text);
  EXPECT_TRUE(fault_of("[1,\n 2,\n x]").starts_with("no JSON: 3:2: this is no JSON: "));
}

TEST(JsonNode, ParseJsonReportsTheFile) {
  Diagnostics diagnostics;
  JsonDocument document;
  EXPECT_FALSE(parse_json("t.json", R"({"a": 1, "a": 2})", document, diagnostics));
  EXPECT_EQ(diagnostics.text(), "t.json:1:10: error: key 'a' stands twice\n");
}

}  // namespace
}  // namespace tiersim
