#include "sim/config/document.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/sample_text.hpp"

namespace tiersim::document_test {
namespace {

using namespace sample;

constexpr std::string_view kTiny =
    "schema: tiersim.model/v1\nname: tiny\nlayers: 2\nheads: 8\nkv_heads: 2\ntied: true\n";
constexpr std::string_view kLarge =
    "schema: tiersim.model/v1\nname: large\nlayers: 80\nheads: 64\nkv_heads: 8\n";
constexpr std::string_view kRest =
    "schema: tiersim.experiment/v1\nname: rest\ndevices: {}\nstep: {batch: 1, context: 2}\n";

TEST(Bases, AreMergedInOrderBelowTheMappingThatNamesThem) {
  const Folder folder("order");
  folder.write("one.yaml",
               "schema: tiersim.experiment/v1\nname: one\nstep: {batch: 1, context: 1}\n");
  folder.write("two.yaml", "schema: tiersim.experiment/v1\nname: two\nstep: {batch: 2}\n");
  const Read got = read_file(
      folder.write("top.yaml",
                   "schema: tiersim.experiment/v1\nbase: [one.yaml, two.yaml]\ndevices: {}\n"
                   "model: {name: m, layers: 1, heads: 1, kv_heads: 1}\nstep: {kv_type: int8}\n"));
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(got.config.name, "two");
  EXPECT_EQ(got.config.step.batch, 2);
  EXPECT_EQ(got.config.step.context, 1);
  EXPECT_EQ(got.config.step.kv_type, DataType::int8);
}

TEST(Bases, AMappingWithItsOwnBaseReplacesTheOneBelow) {
  const Folder folder("replace");
  folder.write("tiny.yaml", kTiny);
  folder.write("large.yaml", kLarge);
  folder.write("below.yaml", std::string(kRest) + "model: {base: tiny.yaml, layers: 3}\n");
  const Read got = read_file(folder.write(
      "top.yaml", "schema: tiersim.experiment/v1\nbase: below.yaml\nmodel: {base: large.yaml}\n"));
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(got.config.model.name, "large");
  EXPECT_EQ(got.config.model.layers, 80);
  EXPECT_FALSE(got.config.model.tied);  // tiny.yaml sets it, large.yaml leaves its default
}

TEST(Bases, AMappingWithoutBaseMergesWithTheOneBelow) {
  const Folder folder("merge");
  folder.write("tiny.yaml", kTiny);
  folder.write("below.yaml", std::string(kRest) + "model: {base: tiny.yaml}\n");
  const Read got = read_file(folder.write(
      "top.yaml", "schema: tiersim.experiment/v1\nbase: below.yaml\nmodel: {layers: 4}\n"));
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(got.config.model.layers, 4);
  EXPECT_TRUE(got.config.model.tied);
}

TEST(Bases, ReplaceListsAndSourcedNumbersAsAWhole) {
  const Folder folder("lists");
  folder.write("below.yaml", kText);
  const Read got =
      read_file(folder.write("top.yaml",
                             "schema: tiersim.experiment/v1\nbase: below.yaml\npath: [hbm]\n"
                             "devices: {hbm: {capacity: 80 GB}}\n"));
  EXPECT_EQ(got.mistakes, "");
  EXPECT_THAT(got.config.path, ::testing::ElementsAre("hbm"));
  const Sourced<Bytes>& capacity = got.config.devices.at("hbm").memory.capacity;
  EXPECT_EQ(capacity.value, Bytes::from_base(80'000'000'000));
  EXPECT_EQ(capacity.number_class, NumberClass::assumed);
  EXPECT_EQ(capacity.source, "not stated");
}

TEST(Bases, AreLookedForBesideTheFileThenInTheConfigRoot) {
  const Folder folder("root");
  folder.write("shipped/models/tiny.yaml", kTiny);
  folder.write("shipped/models/large.yaml", kLarge);
  folder.write("mine/models/large.yaml", kTiny);
  const auto top =
      folder.write("mine/top.yaml",
                   std::string(kRest) + "model: {base: [models/tiny.yaml, models/large.yaml]}\n");
  const Read got = read_file(top, folder.path() / "shipped");
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(got.config.model.layers, 2);
  EXPECT_EQ(folder.without_folder(got.document.locate("model.layers").file),
            "mine/models/large.yaml");
}

TEST(Bases, AFailedBaseGivesNoFollowOnErrors) {
  const Folder folder("failed");
  const Read got = read_file(
      folder.write("top.yaml", std::string(kRest) + "model: {base: none.yaml, layers: 0}\n"));
  EXPECT_EQ(folder.without_folder(got.mistakes),
            "top.yaml:5:15: error: there is no base file 'none.yaml' (looked for none.yaml)\n"
            "top.yaml:5:34: error: model.layers: '0' is out of range (allowed: 1 to 1000)\n");
}

TEST(Bases, OfEarlierDocumentsAreReadOnce) {
  const Folder folder("kept");
  folder.write("tiny.yaml", std::string(kTiny));
  const auto top =
      folder.write("top.yaml", std::string(kRest) + "model: {base: tiny.yaml, heads: 4}\n");
  const auto bases = std::make_shared<BaseFiles>();
  EXPECT_EQ(read_file(top, {}, bases).config.model.layers, 2);
  folder.write("tiny.yaml", std::string(kLarge));
  const Read again = read_file(top, {}, bases);
  EXPECT_EQ(again.mistakes, "");
  EXPECT_EQ(again.config.model.layers, 2);  // as it was read first
  EXPECT_EQ(again.config.model.heads, 4);
  EXPECT_EQ(read_file(top).config.model.layers, 80);
}

// The second base names the first, which has a mistake that is reported once in a document.
TEST(Bases, WithMistakesAreReportedByEachDocument) {
  const Folder folder("reported");
  folder.write("bad.yaml", "schema: tiersim.model/v1\nname: [\n");
  folder.write("good.yaml", std::string(kTiny) + "base: bad.yaml\n");
  const auto top =
      folder.write("top.yaml", std::string(kRest) + "model: {base: [bad.yaml, good.yaml]}\n");
  const auto bases = std::make_shared<BaseFiles>();
  const std::string mistakes = read_file(top, {}, bases).mistakes;
  EXPECT_NE(mistakes.find("bad.yaml:"), std::string::npos) << mistakes;
  EXPECT_EQ(read_file(top, {}, bases).mistakes, mistakes);
  const auto other = folder.write("other.yaml", std::string(kRest) + "model: {base: good.yaml}\n");
  EXPECT_NE(read_file(other, {}, bases).mistakes.find("bad.yaml:"), std::string::npos);
}

TEST(Bases, CyclesAreReportedWithTheirChain) {
  const Folder folder("cycle");
  folder.write("a.yaml", "schema: tiersim.experiment/v1\nbase: b.yaml\n");
  folder.write("b.yaml", "schema: tiersim.experiment/v1\nbase: [a.yaml]\n");
  const Read got = read_file(folder.path() / "a.yaml");
  EXPECT_EQ(folder.without_folder(got.mistakes),
            "b.yaml:2:8: error: base files form a cycle (a.yaml -> b.yaml -> a.yaml)\n");
}

TEST(Bases, OfADocumentMustHaveItsSchema) {
  const Folder folder("kind");
  folder.write("device.yaml", "schema: tiersim.device/v1\nname: x\n");
  const Read got = read_file(
      folder.write("top.yaml", std::string(kRest) + "model: {base: device.yaml, layers: 0}\n"));
  EXPECT_EQ(folder.without_folder(got.mistakes),
            "device.yaml:1:9: error: model: expected schema tiersim.model/v1, "
            "found 'tiersim.device/v1'\n");
}

TEST(Bases, ThatMultiplyAreRefusedBeforeTheyFillTheMemory) {
  const Folder folder("bomb");
  folder.write("0.yaml", "schema: tiersim.experiment/v1\na: 1\n");
  for (int i = 1; i < 30; ++i) {
    const std::string below = "{base: " + std::to_string(i - 1) + ".yaml}";
    folder.write(std::to_string(i) + ".yaml",
                 fmt::format("schema: tiersim.experiment/v1\na: {0}\nb: {0}\n", below));
  }
  const Read got = read_file(folder.path() / "29.yaml");
  EXPECT_THAT(got.mistakes,
              ::testing::HasSubstr("error: more than 1000000 values with all bases\n"));
}

TEST(Bases, FromALongChainOfFilesAreRefused) {
  const Folder folder("chain");
  for (int i = 0; i < 60; ++i)
    folder.write(std::to_string(i) + ".yaml",
                 "schema: tiersim.experiment/v1\nbase: " + std::to_string(i + 1) + ".yaml\n");
  EXPECT_EQ(folder.without_folder(read_file(folder.path() / "0.yaml").mistakes),
            "49.yaml:2:7: error: more than 50 base files below each other\n");
}

TEST(Document, ThatCannotBeReadIsOneMistake) {
  const Folder folder("unreadable");
  EXPECT_EQ(folder.without_folder(read_file(folder.path() / "none.yaml").mistakes),
            "none.yaml:1:1: error: cannot read 'none.yaml': No such file or directory\n");
  std::filesystem::create_directories(folder.path() / "dir.yaml");
  EXPECT_EQ(folder.without_folder(read_file(folder.path() / "dir.yaml").mistakes),
            "dir.yaml:1:1: error: cannot read 'dir.yaml': is a folder\n");
  EXPECT_EQ(folder.without_folder(read_file(folder.write("empty.yaml", "# nothing\n")).mistakes),
            "empty.yaml:1:1: error: the file is empty (it begins with schema: "
            "tiersim.<kind>/v1)\n");
}

TEST(Document, LocatesAValueOrWhatEnclosesIt) {
  const Document document = read_text(kText).document;
  const auto line_of = [&](std::string_view path) { return document.locate(path).line; };
  EXPECT_EQ(line_of("step.batch"), 10);
  EXPECT_EQ(document.locate("step.batch").column, 8);
  EXPECT_EQ(line_of("devices.hbm.efficiency"), 5);
  EXPECT_EQ(line_of("windows.0.to"), 13);
  EXPECT_EQ(line_of("nothing"), 1);
}

TEST(Document, OfAnotherKindIsNotReadFurther) {
  EXPECT_EQ(read_text("schema: tiersim.sweep/v1\naxes: []\n").mistakes,
            "a.yaml:1:9: error: expected schema tiersim.experiment/v1, found "
            "'tiersim.sweep/v1'\n");
}

}  // namespace
}  // namespace tiersim::document_test
