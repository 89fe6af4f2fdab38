#include "sim/config/yaml_tree.hpp"

#include <memory>

#include <gtest/gtest.h>

namespace tiersim::yaml_tree_test {
namespace {

std::optional<Node> parse(std::string text, Diagnostics& diagnostics) {
  return parse_yaml(std::move(text), std::make_shared<const TextSource>(TextSource{"a.yaml", ""}),
                    diagnostics);
}

std::string mistakes(std::string text) {
  Diagnostics diagnostics;
  const auto node = parse(std::move(text), diagnostics);
  EXPECT_TRUE(node || !diagnostics.ok());
  return diagnostics.text();
}

TEST(ParseYaml, KeepsTheOriginOfEveryKeyAndValue) {
  Diagnostics diagnostics;
  const auto node = parse("# comment\na: 1\nb:\n  c: [x, 'y']\n", diagnostics);
  ASSERT_TRUE(node.has_value());
  const Entry& b = node->entries.get().at(1);
  EXPECT_EQ(b.key, "b");
  EXPECT_EQ(b.key_origin.line, 3);
  const Node& y = b.value.entries.get().at(0).value.items.get().at(1);
  EXPECT_EQ(y.scalar, "y");
  EXPECT_TRUE(y.quoted);
  EXPECT_EQ(y.origin.text(), "a.yaml:4");
  EXPECT_EQ(y.origin.column, 10);
}

TEST(ParseYaml, TakesByteOrderMarkAndCarriageReturns) {
  Diagnostics diagnostics;
  const auto node = parse(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: \"x\"\r\n",
      diagnostics);
  ASSERT_TRUE(node.has_value()) << diagnostics.text();
  EXPECT_EQ(node->entries.get().at(0).key, "a");
  EXPECT_EQ(node->entries.get().at(0).value.scalar, "1");
  EXPECT_EQ(node->entries.get().at(1).value.scalar, "x");
}

TEST(ParseYaml, SeesAQuoteThatIsNeverClosed) {
  EXPECT_EQ(mistakes("a: 1\nb: \"x\nc: 2\n"), "a.yaml:2:4: error: this quote is never closed\n");
  EXPECT_EQ(mistakes("a: 'x\n"), "a.yaml:1:4: error: this quote is never closed\n");
  EXPECT_EQ(mistakes("a: 'it''s'\nb: \"\\\"\"\nc: \"\"\nd: ''\n"), "");
  EXPECT_EQ(mistakes("a: \"\\"), "a.yaml:1:4: error: this quote is never closed\n");
}

TEST(ParseYaml, KeepsTheFirstOfDuplicateKeys) {
  Diagnostics diagnostics;
  const auto node = parse("a: 1\nb: 2\na: 3\n", diagnostics);
  EXPECT_EQ(diagnostics.text(), "a.yaml:3:1: error: duplicate key 'a' (first on line 1)\n");
  ASSERT_TRUE(node.has_value());
  EXPECT_EQ(node->find("a")->value.scalar, "1");
}

TEST(ParseYaml, RefusesWhatIsNoPlainConfiguration) {
  EXPECT_EQ(mistakes("a: 1\n---\nb: 2\n"),
            "a.yaml:2:1: error: a second document starts here (one document a file)\n");
  EXPECT_EQ(mistakes("a: &x 1\n"),
            "a.yaml:1:4: error: anchors are not supported (name a base file instead)\n");
  EXPECT_EQ(mistakes("a: *x\n"),
            "a.yaml:1:4: error: aliases are not supported (put text that starts with '*' in "
            "quotes)\n");
  EXPECT_EQ(mistakes("a: !!str 1\n"),
            "a.yaml:1:4: error: YAML tags are not supported (values have no `!`)\n");
  EXPECT_EQ(mistakes("? [1]\n: 2\n"), "a.yaml:1:3: error: a key must be text\n");
  EXPECT_EQ(mistakes("a:\n\tb: 1\n"), "a.yaml:2:1: error: a tab in the indentation (use spaces)\n");
  EXPECT_EQ(mistakes("a: \x01\n"), "a.yaml:1:4: error: control character 0x01\n");
  EXPECT_EQ(mistakes("\xFF\xFE"
                     "a"),
            "a.yaml:1:1: error: not UTF-8 text (save the file as UTF-8)\n");
  EXPECT_EQ(mistakes("a: b: c\n"),
            "a.yaml:1:5: error: a ':' that cannot stand here (put text with ': ' in quotes)\n");
  EXPECT_EQ(mistakes("a: {b: [1, 2}\n"),
            "a.yaml:1:13: error: this bracket closes none that is open\n");
  EXPECT_EQ(mistakes("a: [1, 2\n"), "a.yaml:1:4: error: this bracket is never closed\n");
}

TEST(ParseYaml, RefusesDeepNestingAndHugeText) {
  const auto nested = [](std::size_t n) {
    return "a: " + std::string(n, '[') + std::string(n, ']');
  };
  EXPECT_EQ(mistakes(nested(99)), "");
  EXPECT_EQ(mistakes(nested(100)), "a.yaml:1:103: error: nested deeper than 100 levels\n");
  const std::string open(10'000, '[');
  EXPECT_EQ(mistakes("a: " + open), "a.yaml:1:54: error: nested deeper than 100 levels\n");
  std::string block;
  for (std::size_t i = 0; i < 1000; ++i) block += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(mistakes(block), "a.yaml:101:101: error: nested deeper than 100 levels\n");
  std::string keys;
  for (int i = 0; i <= 10'000; ++i) keys += "k" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(mistakes(keys), "a.yaml:10001:1: error: more than 10000 keys in one mapping\n");
  EXPECT_EQ(mistakes(std::string((std::size_t{16} << 20U) + 1, 'x')),
            "a.yaml:1:1: error: larger than 16 MiB\n");
}

}  // namespace
}  // namespace tiersim::yaml_tree_test
