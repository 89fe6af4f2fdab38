#include "sim/config/snapshot.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tiersim {
namespace {

std::string shape_of(const Node& node) {
  std::string out =
      fmt::format("{}{}'{}'", static_cast<int>(node.kind), node.quoted ? "q" : "", node.scalar);
  for (const Node& item : node.items) out += "[" + shape_of(item) + "]";
  for (const Entry& entry : node.entries) out += "{" + entry.key + shape_of(entry.value) + "}";
  for (const SchemaTag& tag : node.schemas) out += "#" + tag.kind;
  return out;
}

Document yaml(const std::string& text) {
  Diagnostics diagnostics;
  Document document = load_text(text, "file.yaml", {}, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return document;
}

std::string refusal(const std::string& text) {
  Diagnostics diagnostics;
  const Document document = read_snapshot(text, "kept.yaml", diagnostics);
  EXPECT_EQ(document.root().kind, NodeKind::null);
  return diagnostics.text();
}

constexpr const char* kFile = R"(schema: tiersim.model/v1
name: "007"
plain: a b
path: 'C:\x'
lines: "one\ntwo\ttab \u00e9 \x01"
numbers: [1, -1, 0.90, 1e3, -0, -0.0, 007, 0x10, .5, 5., +1, 18446744073709551615, 99999999999999999999, 1_000]
truths: [true, false, True, "true", yes]
nothing: ~
none: null
quantity: 4800 GB/s
nested: {a: {b: [{c: []}, {}, [[1]]]}}
)";

// The reader of YAML is the reference: both make one tree of the same text.
TEST(Snapshot, IsReadAsYamlReadsIt) {
  const std::string text = snapshot_text(yaml(kFile));
  EXPECT_EQ(text.find('\n'), std::string::npos);
  Diagnostics diagnostics;
  const Document read = read_snapshot(text, "kept.yaml", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  EXPECT_EQ(shape_of(read.root()), shape_of(yaml(text).root()));
  EXPECT_EQ(snapshot_text(read), text);
}

TEST(Snapshot, KeepsTheTextOfEveryScalar) {
  const Document file = yaml(kFile);
  Diagnostics diagnostics;
  const Document read = read_snapshot(snapshot_text(file), "kept.yaml", diagnostics);
  const auto texts = [](const Document& document) {
    std::vector<std::string> out;
    for (const char* key : {"numbers", "truths"})
      for (const Node& item : document.root().find(key)->value.items) out.push_back(item.scalar);
    return out;
  };
  EXPECT_EQ(texts(read), texts(file));
  EXPECT_EQ(read.root().schemas.back().kind, "model");
  EXPECT_EQ(read.root().find("lines")->value.scalar, "one\ntwo\ttab \u00e9 \x01");
  EXPECT_EQ(read.locate("nested.a").file, "kept.yaml");
}

TEST(Snapshot, OfAnotherTextIsRefusedWithItsName) {
  EXPECT_EQ(refusal(""), "kept.yaml:1:1: error: character 1 is none of JSON\n");
  EXPECT_EQ(refusal("{\"a\":1"), "kept.yaml:1:1: error: character 7 is none of JSON\n");
  EXPECT_EQ(refusal("{\"a\":1}x"), "kept.yaml:1:1: error: character 8 is none of JSON\n");
  EXPECT_EQ(refusal("[1]"), "kept.yaml:1:1: error: expected a mapping, found a list\n");
  EXPECT_EQ(refusal("{\"a\":1,\"a\":2}"), "kept.yaml:1:1: error: key 'a' stands twice\n");
  EXPECT_EQ(refusal("{\"schema\":\"other/v1\"}"),
            "kept.yaml:1:1: error: the schema is none of tiersim\n");
  EXPECT_EQ(refusal("{\"a\":" + std::string(200, '[') + "]"),
            "kept.yaml:1:1: error: nested deeper than 100 levels\n");
}

}  // namespace
}  // namespace tiersim
