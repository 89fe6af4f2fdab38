#include "sim/config/overrides.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/sample_text.hpp"

namespace tiersim::overrides_test {
namespace {

using namespace sample;

TEST(Overrides, SetValuesOfEveryKind) {
  const Read got = read_text(
      kText, {"step.batch=9", "devices.pcie.raw=1 GB/s", "path=[hbm]", "step.also=[int8, fp8]",
              "windows.0.to=3 ms", "name=a=b", "warm_up={from: 1 ms, to: 2 ms}"});
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(got.config.step.batch, 9);
  EXPECT_EQ(got.config.devices.at("pcie").link.raw, Bandwidth::from_base(1'000'000'000));
  EXPECT_THAT(got.config.path, ::testing::ElementsAre("hbm"));
  EXPECT_THAT(got.config.step.also, ::testing::ElementsAre(DataType::int8, DataType::fp8));
  EXPECT_EQ(got.config.windows.at(0).from, std::chrono::milliseconds(1));
  EXPECT_EQ(got.config.windows.at(0).to, std::chrono::milliseconds(3));
  EXPECT_EQ(got.config.name, "a=b");
}

TEST(Overrides, TheLastOfOneKeyHolds) {
  EXPECT_EQ(read_text(kText, {"step.batch=2", "step.batch=3"}).config.step.batch, 3);
}

TEST(Overrides, ATildeRemovesTheKeyBelow) {
  const Read got = read_text(kText, {"model.tied=~", "devices.pcie=~", "path=[hbm]"});
  EXPECT_EQ(got.mistakes, "");
  EXPECT_FALSE(got.config.model.tied);
  EXPECT_FALSE(got.config.devices.contains("pcie"));
  EXPECT_TRUE(got.config.devices.contains("hbm"));
  // An interval can be removed.
  EXPECT_EQ(read_text(kText, {"devices.hbm.peak={value: 1 GB/s, class: measured, source: x, ci95: "
                              "[1 GB/s, 2 GB/s]}",
                              "devices.hbm.peak.ci95=~"})
                .mistakes,
            "");
  // The keys that a link has and a memory does not go with the kind, or by name.
  std::vector<std::string> memory{"devices.pcie.model=memory", "devices.pcie.capacity=1 GB",
                                  "devices.pcie.peak=1 GB/s", "path=[hbm]"};
  EXPECT_EQ(read_text(kText, memory).mistakes, "");
  memory.insert(memory.end(), {"devices.pcie.raw=~", "devices.pcie.lanes=~"});
  EXPECT_EQ(read_text(kText, memory).mistakes, "");
  // A required key that is removed is missing, and a key that does not exist is unknown.
  EXPECT_NE(read_text(kText, {"name=~"}).mistakes.find("missing required key 'name'"),
            std::string::npos);
  EXPECT_NE(read_text(kText, {"nmae=~"}).mistakes.find("unknown key 'nmae'"), std::string::npos);
  EXPECT_NE(read_text(kText, {"step.batch="}).mistakes, "");
}

TEST(Overrides, ATildeRemovesTheKeyOfABase) {
  const Folder folder("tilde");
  folder.write("models/a.yaml",
               "schema: tiersim.model/v1\nname: a\nlayers: 2\nheads: 8\nkv_heads: 2\ntied: true\n");
  const auto top = folder.write("scenarios/top.yaml",
                                "schema: tiersim.experiment/v1\nname: x\ndevices: {}\n"
                                "step: {batch: 1, context: 2}\n"
                                "model: {base: ../models/a.yaml, heads: 16, tied: ~}\n");
  Diagnostics diagnostics;
  const Document document =
      load_document(top, {.overrides = {}, .config_root = folder.path()}, diagnostics);
  const auto got = read<Experiment>(document, "experiment", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  EXPECT_FALSE(got.model.tied);
}

TEST(Overrides, OfANumberAreAssumedFromTheCommandLine) {
  for (const char* path : {"devices.hbm.capacity=80 GB", "devices.hbm.capacity.value=80 GB"}) {
    const Read got = read_text(kText, {path});
    EXPECT_EQ(got.mistakes, "");
    const Sourced<Bytes>& capacity = got.config.devices.at("hbm").memory.capacity;
    EXPECT_EQ(capacity.value, Bytes::from_base(80'000'000'000));
    EXPECT_EQ(capacity.number_class, NumberClass::assumed);
    EXPECT_EQ(capacity.source, "command line");
  }
}

TEST(Overrides, LieOverBasesAndExchangeThem) {
  const Folder folder("overrides");
  folder.write("models/a.yaml",
               "schema: tiersim.model/v1\nname: a\nlayers: 2\nheads: 8\nkv_heads: 2\ntied: true\n");
  folder.write("models/b.yaml",
               "schema: tiersim.model/v1\nname: b\nlayers: 3\nheads: 8\nkv_heads: 2\n");
  const auto top = folder.write("scenarios/top.yaml",
                                "schema: tiersim.experiment/v1\nname: x\ndevices: {}\n"
                                "step: {batch: 1, context: 2}\n"
                                "model: {base: ../models/a.yaml, heads: 16}\n");
  // In either order, and without the heads that were set for the other model.
  for (const std::vector<std::string>& set :
       {std::vector<std::string>{"model.base=models/b.yaml", "model.layers=4"},
        std::vector<std::string>{"model.layers=4", "model.base=models/b.yaml"}}) {
    Diagnostics diagnostics;
    const Document document =
        load_document(top, {.overrides = set, .config_root = folder.path()}, diagnostics);
    const auto got = read<Experiment>(document, "experiment", diagnostics);
    EXPECT_EQ(diagnostics.text(), "");
    EXPECT_EQ(got.model.name, "b");
    EXPECT_EQ(got.model.layers, 4);
    EXPECT_EQ(got.model.heads, 8);
    EXPECT_FALSE(got.model.tied);
  }
}

TEST(Overrides, ReachIntoAListOfABase) {
  const Folder folder("override_list");
  folder.write("below.yaml", kText);
  const auto top =
      folder.write("top.yaml", "schema: tiersim.experiment/v1\nbase: below.yaml\nname: top\n");
  Diagnostics diagnostics;
  const Document document =
      load_document(top, {.overrides = {"windows.0.from=2 ms", "path.1=pcie"}}, diagnostics);
  const auto got = read<Experiment>(document, "experiment", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  EXPECT_EQ(got.windows.at(0).from, std::chrono::milliseconds(2));
  EXPECT_THAT(got.path, ::testing::ElementsAre("pcie", "pcie"));
}

struct Mistake {
  const char* override_text;
  const char* expected;
};

TEST(Overrides, MistakesStandAtTheirColumn) {
  const Mistake mistakes[] = {
      {"step.batch", "--set 'step.batch':1:1: error: no '=' (write --set a.b=value)\n"},
      {"=4", "--set '=4':1:1: error: an empty key (write --set a.b=value)\n"},
      {"step..batch=4", "--set 'step..batch=4':1:6: error: an empty key (write --set a.b=value)\n"},
      {"step.bach=4",
       "--set 'step.bach=4':1:6: error: step: unknown key 'bach' (did you mean 'batch'?)\n"},
      {"step.batch=0",
       "--set 'step.batch=0':1:12: error: step.batch: '0' is out of range (allowed: 1 to "
       "1000000)\n"},
      {"step.batch=",
       "--set 'step.batch=':1:12: error: step.batch: expected a whole number, found nothing\n"},
      {"devices.pcie.raw=5",
       "--set 'devices.pcie.raw=5':1:18: error: devices.pcie.raw: '5' has no unit (expected one "
       "of: B/s, KB/s, MB/s, "
       "Gbit/s, GB/s, TB/s)\n"},
      {"path=[hbm", "--set 'path=[hbm':1:6: error: this bracket is never closed\n"},
      {"name=\"x", "--set 'name=\"x':1:6: error: this quote is never closed\n"},
      {"windows.3.to=1 ms",
       "--set 'windows.3.to=1 ms':1:9: error: the list has no element 3 (the last is 0)\n"},
      {"step=4", "--set 'step=4':1:6: error: step: expected a mapping, found '4'\n"},
  };
  for (const Mistake& mistake : mistakes)
    EXPECT_EQ(read_text(kText, {mistake.override_text}).mistakes, mistake.expected);
}

TEST(Overrides, AreToldApartWhereSeveralAreWrong) {
  EXPECT_EQ(read_text(kText, {"step.batch=0", "step.context=0"}).mistakes,
            "--set 'step.batch=0':1:12: error: step.batch: '0' is out of range (allowed: 1 to "
            "1000000)\n"
            "--set 'step.context=0':1:14: error: step.context: '0' is out of range (allowed: at "
            "least 1)\n");
}

TEST(Overrides, DeeperThanAFileMayNestAreRefused) {
  std::string path = "a";
  for (int i = 0; i < 100'000; ++i) path += ".a";
  EXPECT_EQ(read_text(kText, {path + "=1"}).mistakes,
            "--set '" + path.substr(0, 120) + "...':1:1: error: too many keys in one --set\n");
}

// Bytes that continue no character: the cut in the message may not go back before the first one.
TEST(Overrides, MayBeNoText) {
  EXPECT_EQ(read_text(kText, {std::string(200, '\xbc')}).mistakes,
            "--set '...':1:1: error: no '=' (write --set a.b=value)\n");
}

}  // namespace
}  // namespace tiersim::overrides_test
