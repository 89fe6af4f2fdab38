#include "kernels/campaign/composition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "kernels/campaign/composition_json.hpp"
#include "kernels/campaign/predictions.hpp"
#include "kernels/campaign/probe_lines.hpp"

namespace tiersim::kernels::bench::composition_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CaseList named(const std::vector<std::string>& names) {
  CaseList cases;
  for (const std::string& name : names) cases.push_back({name, nullptr});
  return cases;
}

TEST(SequenceMaker, FindsPartsByWhatTheirNamesHold) {
  const CaseList cases = named({"a.screen.b1", "a.screen.b16", "a.gather.b16"});
  SequenceMaker maker("F1", "f1.x", cases, Sizes::timed);
  const std::size_t screen = maker.part({"a.", "screen"}, "b16");
  EXPECT_EQ(maker.part({"screen"}, "b16"), screen);  // the same instance
  const std::size_t twin = maker.again(screen);
  EXPECT_NE(twin, screen);
  EXPECT_EQ(maker.step(screen), 0);
  EXPECT_EQ(maker.step(twin, 1, {0}), 1);
  std::vector<Sequence> all;
  maker.add_to(all);
  ASSERT_EQ(all[0].parts.size(), 2U);
  EXPECT_EQ(all[0].parts[1].timed_as, "a.screen.b16");
  EXPECT_THAT(all[0].steps[1].after, ElementsAre(0));
  EXPECT_THAT(all[0].missing, IsEmpty());
}

TEST(SequenceMaker, SaysWhichCaseItLacks) {
  const CaseList cases = named({"a.screen.b1"});
  SequenceMaker maker("F1", "f1.x", cases, Sizes::timed);
  maker.part({"screen"}, "b16");
  std::vector<Sequence> all;
  maker.add_to(all);
  EXPECT_EQ(all[0].missing, "no case screen that ends in b16");
}

TEST(SequenceMaker, TakesAnyShapeAtToySizes) {
  const CaseList cases = named({"a.screen.toy"});
  SequenceMaker maker("F1", "f1.x", cases, Sizes::toy);
  EXPECT_EQ(maker.part({"screen"}, "b16"), 0U);
}

// Two shards on two streams have separate scratch; the join waits for the second.
TEST(Compositions, KeepTheShardsApart) {
  const CaseList cases =
      named({"latent.latent_decode.wgmma.tpla-b64-s32768-h128-d256", "ceiling.copy_engine.d2h.1mb",
             "ceiling.copy_engine.h2d.1mb", "latent.join_shards.one_shot.b64-w7168"});
  std::vector<Sequence> all;
  add_shards(all, cases, Sizes::timed);
  ASSERT_EQ(all.size(), 3U);
  for (const Sequence& sequence : all) EXPECT_THAT(sequence.missing, IsEmpty());
  EXPECT_NE(all[1].steps[0].part, all[1].steps[1].part);
  EXPECT_THAT(all[2].labels, ::testing::Contains(HasSubstr("in place of NVLink")));
  EXPECT_THAT(all[2].steps[3].after, ElementsAre(2));
}

TEST(Compositions, ExitAtEveryDepth) {
  CaseList cases;
  for (const std::string batch : {"b1", "b8", "b64", "b256"}) {
    for (const std::string part : {"decoder_layer.x.", "lm_head.rows128.", "residual_vote.cosine.",
                                   "residual_vote.classifier."}) {
      std::string name = "early_exit.";
      name.append(part).append("t5-base-").append(batch);
      cases.push_back({name, nullptr});
    }
    for (const std::string layers : {"l1", "l6", "l11"}) {
      std::string name = "early_exit.kv_fill.x.t5-base-";
      name.append(layers).append("-").append(batch);
      cases.push_back({name, nullptr});
    }
  }
  std::vector<Sequence> all;
  add_exits(all, cases, Sizes::timed);
  ASSERT_EQ(all.size(), 4U * 3U * 12U);
  for (const Sequence& sequence : all) EXPECT_THAT(sequence.missing, IsEmpty()) << sequence.name;
  EXPECT_EQ(all[0].name, "f3.softmax.b1.exit1");
  EXPECT_EQ(all[0].steps.size(), 3U);    // layer, head, fill
  EXPECT_EQ(all[11].steps.size(), 24U);  // the last exit skips nothing
}

class FakeCase final : public Case {
 public:
  CaseInfo info() const override {
    return {"family", "kernel", "variant.x", "bf16", {{"batch", 4}}, false};
  }
  Work work() const override {
    Work work;
    work.read_bytes = 100;
    work.issued_flops = 7;
    return work;
  }
  std::vector<LaunchUse> launches() const override { return {}; }
  std::int64_t set_bytes() const override { return 0; }
  void prepare(int, std::uint64_t) override {}
  void enqueue(Stream&, int) override {}
  Agreement check(int) override { return {}; }
};

TEST(CompositionPlan, SaysWhatIsLaunchedAndWhatItMoves) {
  const CaseList cases = {{"a.screen.b16", [] { return std::make_unique<FakeCase>(); }}};
  SequenceMaker maker("F1", "f1.x", cases, Sizes::timed);
  const std::size_t screen = maker.part({"screen"}, "b16");
  maker.step(screen);
  maker.step(screen, 1, {0});
  std::vector<Sequence> all;
  maker.add_to(all);
  SequenceMaker lacking("F1", "f1.y", cases, Sizes::timed);
  lacking.step(lacking.part({"gather"}, "b16"));
  lacking.add_to(all);
  const Json plan = plan_json(all, "b1");
  EXPECT_EQ(plan.at("schema").text(), "tiersim.composition_plan/v1");
  EXPECT_EQ(plan.at("build_id").text(), "b1");
  const Json& sequence = plan.at("sequences").array()[0];
  EXPECT_EQ(sequence.at("name").text(), "f1.x");
  const Json& part = sequence.at("parts").array()[0];
  EXPECT_EQ(part.at("timed_as").text(), "a.screen.b16");
  EXPECT_EQ(part.at("variant").text(), "variant.x");
  EXPECT_EQ(part.at("shape").at("batch").integer(), 4);
  EXPECT_EQ(part.at("work").at("read_bytes").integer(), 100);
  ASSERT_EQ(sequence.at("steps").array().size(), 2U);
  EXPECT_EQ(sequence.at("steps").array()[1].at("stream").integer(), 1);
  EXPECT_EQ(sequence.at("steps").array()[1].at("after").array()[0].integer(), 0);
  // A sequence with a missing case names it and has nothing to predict.
  EXPECT_THAT(plan.at("sequences").array()[1].at("missing").text(), HasSubstr("no case gather"));
  EXPECT_THAT(plan.at("sequences").array()[1].at("parts").array(), IsEmpty());
}

class PredictionsTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }
  Options with(const std::string& text) {
    std::ofstream(file_) << text;
    Options options;
    options.build_id = "b1";
    options.predictions = file_;
    return options;
  }
  std::string mistake(const std::string& text) {
    try {
      read_predictions(with(text));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  static std::string document(const std::string& build, const std::string& entries) {
    return R"({"schema": "tiersim.predictions/v1", "build_id": ")" + build +
           R"(", "predictions": [)" + entries + "]}";
  }

  std::string file_ = std::filesystem::temp_directory_path() /
                      ("predictions_test_" + std::to_string(getpid()) + ".json");
  std::string one_ = R"({"name": "f1.x", "median_ns": 10, "low_ns": 9, "high_ns": 12})";
};

TEST_F(PredictionsTest, ComeBeforeTheMeasurement) {
  EXPECT_THROW(read_predictions(Options()), UsageError);
  Options none;
  none.no_predictions = true;
  EXPECT_TRUE(read_predictions(none).empty());
}

TEST_F(PredictionsTest, AreOfTheSameBuild) {
  const Predictions said = read_predictions(with(document("b1", one_)));
  EXPECT_EQ(said.at("f1.x").high_ns, 12);
  EXPECT_THAT(mistake(document("b2", one_)), HasSubstr("made from build b2, this is b1"));
}

TEST_F(PredictionsTest, SayWhatIsWrongWithThem) {
  EXPECT_THAT(mistake(document("b1", one_ + "," + one_)), HasSubstr("f1.x stands twice"));
  EXPECT_THAT(
      mistake(document("b1", R"({"name": "f1.x", "median_ns": 10, "low_ns": 11, "high_ns": 12})")),
      HasSubstr("f1.x: not 0 < low <= median <= high"));
  EXPECT_THAT(mistake("{"), HasSubstr(file_));
  EXPECT_THAT(mistake(R"({"schema": "other"})"), HasSubstr("its schema is not"));
}

TEST(ProbeLines, AreReadAsTheyArePrinted) {
  const ProbeLines lines = read_probe_lines(
      "warp.a    agrees  64 words, within its bound\n"
      "mma.b     DIFFERS 3 of 512 words; word 7\n"
      "bulk.c    FAILED  misaligned address\n"
      "bulk.d    MISSING in the file\n"
      "bulk.e    agrees  no words\n"
      "conformance: 1 of 4 probes agree\n");
  ASSERT_EQ(lines.entries.size(), 2U);
  EXPECT_EQ(lines.entries[0].at("status").text(), "agrees");
  EXPECT_EQ(lines.entries[0].at("agreement").at("compared").integer(), 64);
  EXPECT_EQ(lines.entries[1].at("status").text(), "disagrees");
  EXPECT_EQ(lines.entries[1].at("agreement").at("error").number(), 3);
  ASSERT_EQ(lines.refusals.size(), 3U);
  EXPECT_EQ(lines.refusals[0].first, "bulk.c");
  EXPECT_THAT(lines.refusals[2].second, HasSubstr("not understood"));
}

}  // namespace
}  // namespace tiersim::kernels::bench::composition_test
